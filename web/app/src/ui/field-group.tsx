import { Box, Input } from '@mantine/core';
import { type ReactNode, useId } from 'react';

/** Fields that belong together, under one label. */
export function FieldGroup({ label, children }: { label: string; children: ReactNode }) {
  const id = useId();
  return (
    <Box role="group" aria-labelledby={id}>
      <Input.Label id={id} labelElement="div" mb={4}>
        {label}
      </Input.Label>
      {children}
    </Box>
  );
}
