import { duration } from '../../../format.ts';
import { t } from '../../../texts/index.ts';

const DAY_SECONDS = 86_400;

/** Says how much later one time is than another: "3 days 4 h". */
export function elapsed(from: string, to: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(to) - Date.parse(from)) / 1000));
  if (seconds < DAY_SECONDS) return duration(seconds);
  const days = t.playback.days(Math.floor(seconds / DAY_SECONDS));
  const rest = seconds % DAY_SECONDS;
  return rest < 60 ? days : `${days} ${duration(rest)}`;
}
