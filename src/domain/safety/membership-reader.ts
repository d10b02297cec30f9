import { setTimeout as delay } from 'node:timers/promises';
import { bulkhead } from 'cockatiel';
import type { App } from '../../core/app.ts';
import { refuseInsideTransaction } from '../../core/db/root-guard.ts';
import { type ChatMember, MessengerError, type MessengerFailure } from '../messaging/ports.ts';
import { saveMembership } from './channel-repo.ts';

/** Limits of the requests of this process to the messenger: how many run, how many wait, and the interval between two. */
const requests = bulkhead(20, 400);
const SPACING_MS = 50;
let nextRequestAt = 0;

/** What the messenger said about a member of a channel; a failure says nothing about the member. */
export type MembershipReading = { member: ChatMember } | { failure: MessengerFailure['kind'] };

/** Failures that concern the whole messenger, not one channel or user: a later try may succeed. */
export function isOutage(failure: MessengerFailure['kind']): boolean {
  return failure === 'unavailable' || failure === 'rate_limited' || failure === 'not_configured';
}

/**
 * Asks the messenger for a membership, in turn with all other requests of this kind (20 a second). A stored one that is newer than the
 * request, because the messenger reported it meanwhile, is not overwritten. Never in a transaction.
 * @param options.isStored false: for members who are no users, for example the bot itself
 */
export async function readMembership(
  app: App,
  messengerId: number,
  channelId: string,
  { isStored = true } = {},
): Promise<MembershipReading> {
  refuseInsideTransaction('readMembership');
  try {
    return await requests.execute(async () => {
      await waitForTurn();
      const at = app.clock.now();
      const member = await app.ports.messenger.getChatMember(channelId, messengerId);
      if (isStored) await saveMembership(app.db, { messengerId, channelId, isMember: member.isMember, at, isReport: false });
      return { member };
    });
  } catch (error) {
    // Any failure: the caller decides by what is stored; what was read is kept by the next reading.
    app.log.warn({ err: error, channelId }, 'the membership of a required channel could not be read');
    return { failure: error instanceof MessengerError ? error.failure.kind : 'unavailable' };
  }
}

async function waitForTurn(): Promise<void> {
  const now = performance.now();
  const turn = Math.max(now, nextRequestAt);
  nextRequestAt = turn + SPACING_MS;
  if (turn > now) await delay(turn - now);
}
