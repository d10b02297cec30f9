import type { App } from '../../core/app.ts';
import type { EventTypes } from '../../core/events/event-recorder.ts';
import { recipientOf, tellUser, type UserNotice } from '../messaging/tell-user.ts';
import type { ReferralParty } from './types.ts';

/** Tells a referrer or a referral, in the caller's transaction. */
export async function tellParty<K extends keyof EventTypes>(t: App, party: ReferralParty, notice: UserNotice<K>): Promise<void> {
  await tellUser(t, recipientOf(party), notice);
}
