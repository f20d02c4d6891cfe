import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useApi } from './hooks.ts';

interface LiveMessage {
  topic: string;
  data: unknown;
}

/**
 * Follows channels by server-sent events while the tab is visible: a hidden tab holds no stream, and reads the state anew
 * when it is shown again.
 */
export function useLive(channels: string[], onMessage: (message: LiveMessage) => void, enabled = true): void {
  const { projectId, key } = useApi();
  const cache = useQueryClient();
  const joined = channels.join(',');
  // A new callback must not reopen the stream.
  useEffect(() => {
    if (!enabled || joined === '') return undefined;
    let source: EventSource | undefined;
    const open = () => {
      if (document.hidden || source) return;
      source = new EventSource(`/live?projectId=${projectId}&topics=${encodeURIComponent(joined)}`);
      source.onmessage = (event: MessageEvent<string>) => onMessage(JSON.parse(event.data) as LiveMessage);
    };
    const close = () => {
      source?.close();
      source = undefined;
    };
    const onVisibility = () => {
      if (document.hidden) return close();
      open();
      void cache.invalidateQueries({ queryKey: key() });
    };
    open();
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      document.removeEventListener('visibilitychange', onVisibility);
      close();
    };
  }, [projectId, joined, enabled]);
}
