import { buffer } from 'node:stream/consumers';
import { beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../../src/core/app.ts';
import { readTar } from '../../../src/domain/backups/tar.ts';
import { postMovement } from '../../../src/domain/ledger/post-movement.ts';
import { advanceErasure, eraseNow } from '../../../src/domain/personal-data/erase-person.ts';
import { personArchive } from '../../../src/domain/personal-data/write-archive.ts';
import { aUser, unique } from '../../support/builders.ts';
import { findText } from '../../support/filled-person.ts';
import { aPair, merge, type Pair, setUser, userRow } from '../../support/merge-samples.ts';
import { withPort } from '../../support/provisioning-setup.ts';
import { storeRow } from '../../support/stored-rows.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

const OPERATOR = { kind: 'system', name: 'command line' } as const;
const ALL = { forfeitsBalance: true, endsSubscription: true };

let t: TestApp;
let app: App;
let pair: Pair;
let former: { messengerId: number; email: string; name: string; panelUuid: string };
beforeEach(async () => {
  t = await testApp();
  app = t.app;
  const panelUuid = crypto.randomUUID();
  const [email, name] = [`former${unique()}@example.com`, `Former ${unique()}`];
  const secondary = { first_name: name, last_name: null, email, vpnpanel_uuid: panelUuid };
  pair = await aPair(app, { primary: { email: `own${unique()}@example.com`, vpnpanel_uuid: crypto.randomUUID() }, secondary });
  former = { messengerId: (await userRow(app, pair.secondaryId)).messengerId!, email, name, panelUuid };
});

/** What says by an identifier, not by the id of the account, whose it is. */
async function leaveTraces(): Promise<void> {
  const { messengerId, email, name } = former;
  const channelId = `-100${1_000_000_000 + pair.primaryId}`;
  await storeRow(app, 'RequiredChannel', { channelId });
  await storeRow(app, 'UserChannelSubscription', { messengerId, channelId, isMember: true });
  const logged = { actorUserId: pair.secondaryId, actorMessengerId: messengerId, action: 'close_ticket' };
  await storeRow(app, 'SupportAuditLog', logged);
  await storeRow(app, 'OutgoingMail', { recipient: email, subject: 'Hello', template: 'x', createdAt: t.clock.now() });
  await storeRow(app, 'Broadcast', { targetType: 'all', adminId: pair.secondaryId, adminName: name });
  const paid = {
    method: 'yookassa',
    orderId: `order-${unique()}`,
    amountKopeks: 100,
    status: 'succeeded',
    outcome: 'paid',
  } as const;
  const payment = await storeRow(app, 'Payment', Object.assign({ userId: pair.secondaryId }, paid));
  const [mark, at] = [`mark${unique()}`, t.clock.now()];
  const receipt = { amountKopeks: 100, operationAt: at, createdAt: at, updatedAt: at, nextAttemptAt: at, mark } as const;
  await storeRow(app, 'Receipt', Object.assign({ paymentId: payment.id, name: `VPN (ID ${messengerId}) #${mark}` }, receipt));
  const referrer = await aUser(app);
  const earning = { userId: referrer.id, referralId: pair.secondaryId, amountKopeks: 0 };
  await storeRow(app, 'ReferralEarning', Object.assign({ reason: 'referral_registration_pending' } as const, earning));
  const reward = { userId: referrer.id, type: 'referral_reward', amountKopeks: 100, paymentMethod: null } as const;
  const contra = { kind: 'referral_expense' } as const;
  await postMovement(app, Object.assign({ contra, description: `Reward for ${name}` }, reward));
}

async function erase(userId: number): Promise<void> {
  const { id } = await eraseNow(app, OPERATOR, userId, ALL);
  await advanceErasure(app, id);
}

describe('an account that another one was merged into', () => {
  test('leaves nothing of both when it is erased', async () => {
    await leaveTraces();
    await merge(app, pair);
    await erase(pair.primaryId);
    const left = await Promise.all(Object.values(former).map((value) => findText(app, String(value))));
    // A job of the queue ends with its retention, and a synchronisation must know for some days that the panel user was removed.
    expect(left.flat()).toEqual(['short_lived_entries.key']);
  });

  test('has what both left in its archive, each row once', async () => {
    await leaveTraces();
    await merge(app, pair);
    const members = new Map<string, string>();
    for await (const { name, content } of readTar(personArchive(app, pair.primaryId)))
      members.set(name, (await buffer(content)).toString());
    const { rows } = JSON.parse(members.get('contents.json')!);
    expect(rows).toMatchObject({ users: 2, account_merges: 1, user_channel_subscriptions: 1, receipts: 1 });
    expect([...members.values()].join('\n')).toContain(former.name);
    expect(members.get('data/account_merges-00001.ndjson')).toContain(former.email);
  });

  test('does not end what belongs to a later account with the same messenger id and address', async () => {
    await merge(app, pair);
    const later = await aUser(app, { email: former.email });
    await setUser(app, later.id, { messenger_id: former.messengerId });
    const mail = await storeRow(app, 'OutgoingMail', { recipient: former.email, subject: 'Hello', template: 'x' });
    await erase(pair.primaryId);
    expect(await app.db.sql('SELECT id FROM outgoing_mails WHERE recipient = $1', [former.email])).toEqual([{ id: mail.id }]);
  });

  test('takes the panel user that the merge could not remove with it', async () => {
    await merge(app, pair);
    const deleted: string[] = [];
    const panel = Object.assign(Object.create(app.ports.panel), { deleteUser: async (uuid: string) => void deleted.push(uuid) });
    const { id } = await eraseNow(app, OPERATOR, pair.primaryId, ALL);
    await advanceErasure(withPort(app, panel), id);
    expect(deleted).toContain(former.panelUuid);
  });
});
