#!/bin/sh
# Creates the namespace of this installation, once. Runs in temporalio/admin-tools after the server has started.
set -eu

until temporal operator cluster health --address "$TEMPORAL_ADDRESS"; do sleep 1; done
temporal operator namespace describe --address "$TEMPORAL_ADDRESS" --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --address "$TEMPORAL_ADDRESS" --namespace "$TEMPORAL_NAMESPACE" --retention 72h
