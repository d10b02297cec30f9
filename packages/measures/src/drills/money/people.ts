/** Users and tariffs of the drill of money. Each user has one part, so that what the part must leave behind is known. */
import type { App } from '../../../../../src/core/app.ts';

export interface Person {
  id: number;
  messengerId: number;
}

export interface People {
  /** Top up in every way, buy tariffs and gifts. Most have a referrer. */
  shoppers: readonly Person[];
  /** Referrers, who request withdrawals and do nothing else. */
  earners: readonly Person[];
  /** Enter codes of gifts and do nothing else. */
  claimers: readonly Person[];
  /** Their subscriptions are renewed with saved cards; they do nothing else. */
  renewers: readonly Person[];
  /** Pay their invoices twice, and do nothing else. */
  doublePayers: readonly Person[];
  /** Decide about withdrawals. */
  admins: readonly Person[];
  /** Ids. */
  all: readonly number[];
}

/** Ids and prices in kopeks. */
export interface Tariffs {
  /** 30 days; also given. */
  monthId: number;
  monthKopeks: number;
  /** 3 days, so that a renewal is due every third day. */
  shortId: number;
  shortKopeks: number;
}

const COUNTS = { shoppers: 24, earners: 6, claimers: 10, renewers: 15, doublePayers: 5, admins: 2 };
const FIRST_MESSENGER_ID = 7_200_000_000;
/** Of the shoppers: those who were invited. */
const REFERRED_SHARE = 0.75;
export const MONTH_DAYS = 30;
export const SHORT_DAYS = 3;

export async function makeTariffs(app: App): Promise<Tariffs> {
  const [squad] = await app.db.sql<{ uuid: string }>(
    `INSERT INTO server_squads (squad_uuid, display_name, is_available) VALUES ('5b6c7d8e-0000-4000-8000-000000000001', 'Drill', true)
     RETURNING squad_uuid AS uuid`,
  );
  const insert = async (name: string, days: number, kopeks: number, isGiven: boolean): Promise<number> => {
    const [row] = await app.db.sql<{ id: number }>(
      `INSERT INTO tariffs (name, traffic_limit_gb, device_limit, allowed_squads, period_prices, show_in_gift)
       VALUES ($1, 100, 2, $2::jsonb, $3::jsonb, $4::boolean) RETURNING id`,
      [name, JSON.stringify([squad!.uuid]), JSON.stringify({ [days]: kopeks }), isGiven],
    );
    return row!.id;
  };
  await app.db.sql(
    `INSERT INTO system_settings (key, value, created_at, updated_at) VALUES ('CABINET_GIFT_ENABLED', 'true', now(), now())
     ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value RETURNING key`,
  );
  const [monthKopeks, shortKopeks] = [19_900, 9_900];
  return {
    ...{ monthId: await insert('Drill month', MONTH_DAYS, monthKopeks, true), monthKopeks },
    ...{ shortId: await insert('Drill short', SHORT_DAYS, shortKopeks, false), shortKopeks },
  };
}

export async function makePeople(app: App): Promise<People> {
  let next = FIRST_MESSENGER_ID;
  const makeAll = async (part: string, count: number): Promise<Person[]> => {
    const people: Person[] = [];
    for (let index = 0; index < count; index += 1) {
      next += 1;
      const [row] = await app.db.sql<{ id: number }>(
        `INSERT INTO users (messenger_id, username, first_name, language, referral_code, promo_group_id, created_at, updated_at)
         VALUES ($1::bigint, $2, 'Drill', 'en', $3, (SELECT id FROM promo_groups WHERE is_default), $4::timestamptz, $4::timestamptz) RETURNING id`,
        [next, `drill_${part}_${index}`, `drill${next}`, app.clock.now()],
      );
      people.push({ id: row!.id, messengerId: next });
    }
    return people;
  };
  const people = {
    shoppers: await makeAll('shopper', COUNTS.shoppers),
    earners: await makeAll('earner', COUNTS.earners),
    claimers: await makeAll('claimer', COUNTS.claimers),
    renewers: await makeAll('renewer', COUNTS.renewers),
    doublePayers: await makeAll('double', COUNTS.doublePayers),
    admins: await makeAll('admin', COUNTS.admins),
  };
  const referred = people.shoppers.slice(0, Math.floor(COUNTS.shoppers * REFERRED_SHARE));
  for (const [index, { id }] of referred.entries()) {
    const referrer = people.earners[index % people.earners.length]!;
    await app.db.sql('UPDATE users SET referred_by_id = $2::int WHERE id = $1::int RETURNING id', [id, referrer.id]);
  }
  const permissions = JSON.stringify(['withdrawals:read', 'withdrawals:approve', 'withdrawals:reject']);
  for (const { id } of people.admins) {
    await app.db.sql(
      `WITH role AS (INSERT INTO admin_roles (name, level, permissions) VALUES ('drill ' || $1::int, 100, $2::jsonb) RETURNING id)
       INSERT INTO user_roles (user_id, role_id) SELECT $1::int, role.id FROM role RETURNING id`,
      [id, permissions],
    );
  }
  return { ...people, all: Object.values(people).flatMap((part) => part.map(({ id }) => id)) };
}
