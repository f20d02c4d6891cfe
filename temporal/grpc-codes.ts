/** The gRPC status codes that the program distinguishes: https://grpc.io/docs/guides/status-codes/ */
export const grpcCodes = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  UNAUTHENTICATED: 16,
} as const;
