import { columns, type RowOf, type Rows } from '../../core/db/columns.ts';
import type { Db } from '../../core/db/db.ts';
import { registrantName } from './rules.ts';

const REGISTRATION = columns('CampaignRegistration', [
  ...(['id', 'userId', 'bonusType', 'balanceBonusKopeks', 'subscriptionDurationDays', 'tariffId', 'tariffDurationDays'] as const),
  'createdAt',
]);
const REGISTRANT = columns('User', ['messengerId', 'username', 'firstName']);

/** A registration with its user and what was given. Kopeks, days. */
export type RegistrationItem = RowOf<typeof REGISTRATION> &
  RowOf<typeof REGISTRANT> & {
    userBalanceKopeks: number;
    /** One in status `active`. */
    hasSubscription: boolean;
    hasPaid: boolean;
  };

/** Newest first. The page is cut in the index alone, so that a page at a high offset does not read all rows before it. */
export function listRegistrationPage(
  db: Db,
  campaignId: number,
  page: { limit: number; offset: number },
): Promise<RegistrationItem[]> {
  return db.sql<RegistrationItem>(
    `SELECT ${REGISTRATION.of('r')}, ${REGISTRANT.of('u')}, u.balance_kopeks AS user_balance_kopeks,
       coalesce(s.status = 'active', false) AS has_subscription, u.has_had_paid_subscription AS has_paid
     FROM (SELECT id FROM advertising_campaign_registrations WHERE campaign_id = $1::int
         ORDER BY created_at DESC, id DESC LIMIT $2::int OFFSET $3::bigint) page
       JOIN advertising_campaign_registrations r ON r.id = page.id
       JOIN users u ON u.id = r.user_id LEFT JOIN subscriptions s ON s.user_id = r.user_id
     ORDER BY r.created_at DESC, r.id DESC`,
    [campaignId, page.limit, page.offset],
  );
}

export async function findLastRegistration(db: Db, campaignId: number): Promise<Date | null> {
  const row = await db.prisma.campaignRegistration.findFirst({
    where: { campaignId },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    select: { createdAt: true },
  });
  return row?.createdAt ?? null;
}

/** One calendar day in UTC. */
export interface CampaignDay {
  /** `YYYY-MM-DD`. */
  date: string;
  registrations: number;
  depositsKopeks: number;
}

/** Every day from the first to the last; days without registrations and deposits have zeros. */
export function listDays(db: Db, campaignId: number, from: Date, to: Date): Promise<CampaignDay[]> {
  return db.sql<CampaignDay>(
    `SELECT to_char(d.day, 'YYYY-MM-DD') AS date, coalesce(sum(y.registrations), 0)::int AS registrations,
       coalesce(sum(y.deposits_kopeks), 0)::bigint AS deposits_kopeks
     FROM generate_series(($2::timestamptz AT TIME ZONE 'UTC')::date::timestamp, ($3::timestamptz AT TIME ZONE 'UTC')::date::timestamp,
         interval '1 day') AS d (day)
       LEFT JOIN campaign_day_counters y ON y.campaign_id = $1::int AND y.day = d.day::date
         AND y.day BETWEEN ($2::timestamptz AT TIME ZONE 'UTC')::date AND ($3::timestamptz AT TIME ZONE 'UTC')::date
     GROUP BY d.day ORDER BY d.day`,
    [campaignId, from, to],
  );
}

/** A registrant with high deposits and spending. */
export interface TopRegistrant {
  id: number;
  fullName: string;
  createdAt: Date;
  hasPaid: boolean;
  /** Has an active subscription. */
  isActive: boolean;
  /** Deposits and spending together; the same money may count in both. */
  kopeks: number;
}

type TopRow = Omit<TopRegistrant, 'fullName'> & Pick<Rows['User'], 'firstName' | 'lastName' | 'username'>;

export async function listTopRegistrants(db: Db, campaignId: number, limit: number, now: Date): Promise<TopRegistrant[]> {
  const rows = await db.sql<TopRow>(
    `SELECT r.user_id AS id, u.first_name, u.last_name, u.username, r.created_at, u.has_had_paid_subscription AS has_paid,
       coalesce(s.status = 'active' AND s.end_date > $3::timestamptz, false) AS is_active, r.kopeks
     FROM (SELECT id, user_id, created_at, (deposits_kopeks + spent_kopeks)::bigint AS kopeks
         FROM advertising_campaign_registrations WHERE campaign_id = $1::int
         ORDER BY deposits_kopeks + spent_kopeks DESC, id DESC LIMIT $2::int) r
       JOIN users u ON u.id = r.user_id LEFT JOIN subscriptions s ON s.user_id = r.user_id
     ORDER BY r.kopeks DESC, r.id DESC`,
    [campaignId, limit, now],
  );
  return rows.map((row) => ({ ...row, fullName: registrantName(row) }));
}

/** A user to whom a campaign can be assigned. */
export interface AvailablePartner {
  userId: number;
  username: string | null;
  firstName: string | null;
}

/** Approved partners by name. */
export function listApprovedPartners(db: Db): Promise<AvailablePartner[]> {
  return db.sql<AvailablePartner>(
    `SELECT id AS user_id, username, first_name FROM users
     WHERE partner_status = 'approved' AND status <> 'deleted' ORDER BY first_name, username, id`,
  );
}
