import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './query-client.ts';
import { router } from './router.tsx';
import { cssVariables, theme } from './theme.ts';
import { LeaveDialog } from './ui/leaving.tsx';
import { Notices } from './ui/notices.tsx';

/** Shows the application. Its texts are loaded by then. */
export function start(root: HTMLElement): void {
  createRoot(root).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
        <QueryClientProvider client={queryClient}>
          <Notices />
          <RouterProvider router={router} />
          <LeaveDialog />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
}
