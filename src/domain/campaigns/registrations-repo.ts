import type { Db } from '../../core/db/db.ts';
import { visitorName } from './rules.ts';

/** Somebody who came through a campaign, with what was given. Kopeks, days. */
export interface RegistrationItem {
  id: number;
  userId: number;
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  bonusType: string;
  balanceBonusKopeks: number;
  subscriptionDurationDays: number | null;
  tariffId: number | null;
  tariffDurationDays: number | null;
  createdAt: Date;
  userBalanceKopeks: number;
  /** One in status `active`. */
  hasSubscription: boolean;
  hasPaid: boolean;
}

/** Newest first. The page is cut in the index alone, so that a page far back does not read all rows before it. */
export function listRegistrationPage(
  db: Db,
  campaignId: number,
  page: { limit: number; offset: number },
): Promise<RegistrationItem[]> {
  return db.sql<RegistrationItem>(
    `SELECT r.id, r.user_id AS "userId", u.messenger_id AS "messengerId", u.username, u.first_name AS "firstName",
       r.bonus_type AS "bonusType", r.balance_bonus_kopeks AS "balanceBonusKopeks",
       r.subscription_duration_days AS "subscriptionDurationDays", r.tariff_id AS "tariffId",
       r.tariff_duration_days AS "tariffDurationDays", r.created_at AS "createdAt", u.balance_kopeks AS "userBalanceKopeks",
       coalesce(s.status = 'active', false) AS "hasSubscription", u.has_had_paid_subscription AS "hasPaid"
     FROM (SELECT id FROM advertising_campaign_registrations WHERE campaign_id = $1::int
         ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint) page
       JOIN advertising_campaign_registrations r ON r.id = page.id
       JOIN users u ON u.id = r.user_id LEFT JOIN subscriptions s ON s.user_id = r.user_id
     ORDER BY r.created_at DESC, r.id DESC`,
    [campaignId, page.limit, page.offset],
  );
}

export async function findLastRegistration(db: Db, campaignId: number): Promise<Date | null> {
  const [row] = await db.sql<{ createdAt: Date }>(
    `SELECT created_at FROM advertising_campaign_registrations WHERE campaign_id = $1::int
     ORDER BY created_at DESC, id DESC LIMIT 1`,
    [campaignId],
  );
  return row?.createdAt ?? null;
}

/** One calendar day in UTC. */
export interface CampaignDay {
  /** `YYYY-MM-DD`. */
  date: string;
  registrations: number;
  depositsKopeks: number;
}

/** Every day from the first to the last, with zeros where nothing was. */
export function listDays(db: Db, campaignId: number, from: Date, to: Date): Promise<CampaignDay[]> {
  return db.sql<CampaignDay>(
    `SELECT to_char(d.day, 'YYYY-MM-DD') AS date, coalesce(sum(y.registrations), 0)::int AS registrations,
       coalesce(sum(y.deposits_kopeks), 0)::bigint AS "depositsKopeks"
     FROM generate_series(($2::timestamptz AT TIME ZONE 'UTC')::date::timestamp, ($3::timestamptz AT TIME ZONE 'UTC')::date::timestamp,
         interval '1 day') AS d (day)
       LEFT JOIN campaign_day_counters y ON y.campaign_id = $1::int AND y.day = d.day::date
         AND y.day BETWEEN ($2::timestamptz AT TIME ZONE 'UTC')::date AND ($3::timestamptz AT TIME ZONE 'UTC')::date
     GROUP BY d.day ORDER BY d.day`,
    [campaignId, from, to],
  );
}

/** One of those who brought most. */
export interface TopVisitor {
  userId: number;
  name: string;
  registeredAt: Date;
  hasPaid: boolean;
  /** A subscription that runs. */
  isActive: boolean;
  /** Deposits and spending together; the same money may stand in both. */
  kopeks: number;
}

interface TopRow extends Omit<TopVisitor, 'name'> {
  firstName: string | null;
  lastName: string | null;
  username: string | null;
}

export async function listTopVisitors(db: Db, campaignId: number, limit: number, now: Date): Promise<TopVisitor[]> {
  const rows = await db.sql<TopRow>(
    `SELECT r.user_id AS "userId", u.first_name AS "firstName", u.last_name AS "lastName", u.username, r.created_at AS "registeredAt",
       u.has_had_paid_subscription AS "hasPaid", coalesce(s.status = 'active' AND s.end_date > $3::timestamptz, false) AS "isActive",
       r.kopeks
     FROM (SELECT id, user_id, created_at, (deposits_kopeks + spent_kopeks)::bigint AS kopeks
         FROM advertising_campaign_registrations WHERE campaign_id = $1::int
         ORDER BY deposits_kopeks + spent_kopeks DESC, id DESC LIMIT $2::int) r
       JOIN users u ON u.id = r.user_id LEFT JOIN subscriptions s ON s.user_id = r.user_id
     ORDER BY r.kopeks DESC, r.id DESC`,
    [campaignId, limit, now],
  );
  return rows.map(({ firstName, lastName, username, ...row }) => ({
    ...row,
    name: visitorName({ id: row.userId, firstName, lastName, username }),
  }));
}

/** Somebody to whom a campaign can be given. */
export interface AvailablePartner {
  userId: number;
  username: string | null;
  firstName: string | null;
}

/** Approved partners by name. */
export function listApprovedPartners(db: Db): Promise<AvailablePartner[]> {
  return db.sql<AvailablePartner>(
    `SELECT id AS "userId", username, first_name AS "firstName" FROM users
     WHERE partner_status = 'approved' AND status <> 'deleted' ORDER BY first_name, username, id`,
  );
}
