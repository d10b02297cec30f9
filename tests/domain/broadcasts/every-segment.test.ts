import { expect, test } from 'vitest';
import { previewAudience } from '../../../src/domain/broadcasts/audiences.ts';
import { BASIC_SEGMENTS, CUSTOM_SEGMENTS } from '../../../src/domain/broadcasts/rules.ts';
import { readSends } from '../../../src/domain/mass-sends/control-sends.ts';
import { prepareShare, takeSend } from '../../../src/domain/mass-sends/repo.ts';
import { aSegment } from '../../support/audience-samples.ts';
import { aBroadcast, KINDS, recipientsOf } from '../../support/broadcast-samples.ts';
import { aUser, type BuiltUser } from '../../support/builders.ts';
import { setUser } from '../../support/merge-samples.ts';
import { aStoredSubscription } from '../../support/sale-samples.ts';
import { testApp } from '../../support/test-app.ts';

const DAY = 86_400_000;

test('spec 05 section 16, invariant 4: for every segment the preview counts those who will get it', async () => {
  const t = await testApp();
  const now = t.clock.now().getTime();
  const at = (days: number) => new Date(now + days * DAY);
  const { target: tariff, users } = await aSegment(t.app, 6);
  const [active, ended, late, referral, blocked, unwanted] = users as [
    BuiltUser,
    BuiltUser,
    BuiltUser,
    BuiltUser,
    BuiltUser,
    BuiltUser,
  ];
  const subscription = (userId: number, columns: Record<string, unknown>) => aStoredSubscription(t.app, userId, columns);
  await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE user_id = $1::int RETURNING id', [
    ended.id,
    at(-1),
  ]);
  await t.app.db.sql('UPDATE subscriptions SET end_date = $2::timestamptz WHERE user_id = $1::int RETURNING id', [
    late.id,
    at(2),
  ]);
  await setUser(t.app, active.id, { last_activity: at(0) });
  await setUser(t.app, ended.id, { last_activity: at(-10) });
  await setUser(t.app, late.id, { last_activity: at(-40) });
  await setUser(t.app, referral.id, { referred_by_id: active.id });
  await setUser(t.app, blocked.id, { status: 'blocked' });
  await setUser(t.app, unwanted.id, { notification_settings: { news_enabled: false } });
  const trial = await aUser(t.app);
  await subscription(trial.id, { is_trial: true });
  await aUser(t.app);
  for (const target of [...BASIC_SEGMENTS, ...CUSTOM_SEGMENTS, tariff]) {
    // It makes an administrator, who is a member of some of them.
    const broadcast = await aBroadcast(t.app, target);
    const { count } = await previewAudience(t.app, 'messenger', target);
    expect(count, target).toBeGreaterThan(0);
    const [queued] = await readSends(t.app, 'broadcast', [broadcast.id]);
    const send = (await takeSend(t.app.db, queued!.id, 60_000, t.clock.now()))!;
    while ((await prepareShare(t.app.db, KINDS.broadcast, send, 1_000)) === false);
    const rows = await recipientsOf(t.app, broadcast);
    expect([target, rows.length]).toEqual([target, count]);
    expect(rows.map(({ userId }) => userId)).not.toContain(blocked.id);
    expect(rows.map(({ userId }) => userId)).not.toContain(unwanted.id);
    await t.app.db.sql('DELETE FROM mass_sends WHERE id = $1::int RETURNING id', [send.id]);
  }
});
