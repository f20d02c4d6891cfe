import { useReducedMotion } from '@mantine/hooks';
import { useCallback, useEffect, useState } from 'react';

export const SPEEDS = ['0.5', '1', '2', '4'] as const;
export type Speed = (typeof SPEEDS)[number];

/** How long a visit is shown at speed 1. Waits of days take as long as everything else. */
const VISIT_MS = 1_600;

export interface Playback {
  position: number;
  isPlaying: boolean;
  speed: Speed;
  play(): void;
  pause(): void;
  /** Goes to a position and pauses. */
  seek(position: number): void;
  setSpeed(speed: Speed): void;
}

/** Runs from 0 to the number of visits. Who wants no motion sees one visit after another, with nothing in between. */
export function usePlayback(visits: number, startsPlaying: boolean): Playback {
  const [position, setPosition] = useState(0);
  const [isPlaying, setPlaying] = useState(startsPlaying);
  const [speed, setSpeed] = useState<Speed>('1');
  const isCalm = useReducedMotion();
  const msPerVisit = VISIT_MS / Number(speed);
  useEffect(() => {
    if (!isPlaying) return;
    if (isCalm) {
      const timer = setInterval(() => setPosition((now) => Math.min(Math.floor(now) + 1, visits)), msPerVisit);
      return () => clearInterval(timer);
    }
    let before = performance.now();
    const tick = (now: number) => {
      const passed = (now - before) / msPerVisit;
      before = now;
      setPosition((at) => Math.min(at + Math.max(passed, 0), visits));
      frame = requestAnimationFrame(tick);
    };
    let frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, isCalm, msPerVisit, visits]);
  useEffect(() => {
    if (position >= visits) setPlaying(false);
  }, [position, visits]);
  return {
    position: Math.min(position, visits),
    isPlaying,
    speed,
    play: useCallback(() => {
      setPosition((at) => (at >= visits ? 0 : at));
      setPlaying(true);
    }, [visits]),
    pause: useCallback(() => setPlaying(false), []),
    seek: useCallback(
      (to: number) => {
        setPlaying(false);
        setPosition(Math.min(Math.max(to, 0), visits));
      },
      [visits],
    ),
    setSpeed,
  };
}
