import { broadcastCondition } from '../audience/segments.ts';
import type { SendKind } from '../mass-sends/types.ts';
import { announceProgress } from './announce-progress.ts';
import { mailPart } from './mail-part.ts';
import { messengerPart } from './messenger-part.ts';
import { readBroadcast } from './read-broadcasts.ts';
import { findBroadcast } from './repo.ts';

/** Broadcasts as the engine of mass sends knows them. */
export const broadcastKind: SendKind = {
  recipients: ({ channel, audience }, now) => broadcastCondition(channel, audience, now),
  repeatable: 'false',
  open: async (app, send) => {
    const broadcast = await findBroadcast(app.db, send.sourceId);
    if (!broadcast) return null;
    const deliver = send.channel === 'messenger' ? messengerPart(app, broadcast) : await mailPart(app, broadcast, send.id);
    // Who has switched off news since the preparation gets none.
    return deliver && (async (recipient) => (recipient.wantsNews ? deliver(recipient) : { state: 'failed' }));
  },
  announce: async (app, send) => announceProgress(app, await readBroadcast(app, send.sourceId)),
};
