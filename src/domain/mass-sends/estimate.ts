import type { Env } from '../../core/env.ts';
import { paceOf } from './pace.ts';
import type { MassSend } from './types.ts';

/** Below so many messages the speed so far says nothing. */
const ENOUGH = 200;

export const settledOf = ({ sent, failed, blocked, unconfirmed }: MassSend): number => sent + failed + blocked + unconfirmed;

/**
 * When a send is likely to end: by its speed so far, at first by the pace that is set.
 * @returns null before its recipients are known, while it is paused, and when it has ended or is to stop
 */
export function estimatedEnd(env: Env, send: MassSend, now: Date): Date | null {
  if (send.state !== 'sending' || send.pausedAt !== null || send.stopRequestedAt !== null || send.startedAt === null) return null;
  const settled = settledOf(send);
  const seconds = (now.getTime() - send.startedAt.getTime()) / 1_000;
  const pace = paceOf(env, send.channel);
  const speed = settled >= ENOUGH && seconds > 0 ? Math.min(pace, settled / seconds) : pace;
  return new Date(now.getTime() + Math.ceil(((send.total - settled) / speed) * 1_000));
}
