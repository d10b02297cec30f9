import type { Db } from '../../core/db/db.ts';
import { type CampaignRow, toCampaign } from './campaign-row.ts';
import { partnerName } from './rules.ts';
import type { CampaignCard, CampaignFigures } from './types.ts';

interface CardRow extends CampaignRow, CampaignFigures {
  tariffName: string | null;
  partnerFirstName: string | null;
  partnerUsername: string | null;
}

/** Sums over the counters of a campaign, which are kept by triggers (prisma/sql/campaign-stats.sql). */
const FIGURES = `coalesce(sum(y.registrations), 0)::int AS registrations,
  coalesce(sum(y.balance_issued_kopeks), 0)::bigint AS "balanceIssuedKopeks",
  coalesce(sum(y.subscription_registrations), 0)::int AS "subscriptionRegistrations",
  coalesce(sum(y.tariff_registrations), 0)::int AS "tariffRegistrations",
  coalesce(sum(y.deposits_kopeks), 0)::bigint AS "depositsKopeks", coalesce(sum(y.spent_kopeks), 0)::bigint AS "spentKopeks",
  coalesce(sum(y.payers), 0)::int AS payers, coalesce(sum(y.had_paid), 0)::int AS "hadPaid",
  coalesce(sum(y.conversions), 0)::int AS conversions, coalesce(sum(y.trials), 0)::int AS trials,
  coalesce(sum(y.active_trials), 0)::int AS "activeTrials", coalesce(sum(y.first_payments), 0)::int AS "firstPayments",
  coalesce(sum(y.first_payments_kopeks), 0)::bigint AS "firstPaymentsKopeks"`;

/** @param page SQL that selects the campaigns */
function cardsSql(page: string): string {
  return `SELECT c.*, t.name AS tariff_name, p.first_name AS partner_first_name, p.username AS partner_username, f.*
    FROM (${page}) c LEFT JOIN tariffs t ON t.id = c.tariff_id LEFT JOIN users p ON p.id = c.partner_user_id
      CROSS JOIN LATERAL (SELECT ${FIGURES} FROM campaign_counters y WHERE y.campaign_id = c.id) f
    ORDER BY c.created_at DESC, c.id DESC`;
}

function toCard(row: CardRow): CampaignCard {
  const partner = row.partnerUserId;
  return {
    campaign: toCampaign(row),
    tariffName: row.tariffName,
    partnerName:
      partner === null ? null : partnerName({ id: partner, firstName: row.partnerFirstName, username: row.partnerUsername }),
    figures: {
      registrations: row.registrations,
      balanceIssuedKopeks: row.balanceIssuedKopeks,
      subscriptionRegistrations: row.subscriptionRegistrations,
      tariffRegistrations: row.tariffRegistrations,
      depositsKopeks: row.depositsKopeks,
      spentKopeks: row.spentKopeks,
      payers: row.payers,
      hadPaid: row.hadPaid,
      conversions: row.conversions,
      trials: row.trials,
      activeTrials: row.activeTrials,
      firstPayments: row.firstPayments,
      firstPaymentsKopeks: row.firstPaymentsKopeks,
    },
  };
}

export interface CampaignFilter {
  includeInactive: boolean;
  limit: number;
  offset: number;
}

/** Newest first, with the figures of the whole page in one statement. */
export async function listCards(db: Db, filter: CampaignFilter): Promise<{ items: CampaignCard[]; total: number }> {
  const where = filter.includeInactive ? '' : 'WHERE is_active';
  const [rows, [count]] = await Promise.all([
    db.sql<CardRow>(
      cardsSql(`SELECT * FROM advertising_campaigns ${where} ORDER BY created_at DESC, id DESC LIMIT $1::int OFFSET $2::bigint`),
      [filter.limit, filter.offset],
    ),
    db.sql<{ total: number }>(`SELECT count(*)::int AS total FROM advertising_campaigns ${where}`),
  ]);
  return { items: rows.map(toCard), total: count!.total };
}

export async function findCard(db: Db, id: number): Promise<CampaignCard | null> {
  const [row] = await db.sql<CardRow>(cardsSql('SELECT * FROM advertising_campaigns WHERE id = $1::bigint'), [id]);
  return row ? toCard(row) : null;
}

export interface CampaignTotals {
  total: number;
  active: number;
  registrations: number;
  balanceIssuedKopeks: number;
  subscriptionRegistrations: number;
  tariffRegistrations: number;
}

/** Over every campaign. */
export async function readTotals(db: Db): Promise<CampaignTotals> {
  const [row] = await db.sql<CampaignTotals>(
    `SELECT count(*)::int AS total, (count(*) FILTER (WHERE c.is_active))::int AS active,
       coalesce(sum(y.registrations), 0)::int AS registrations,
       coalesce(sum(y.balance), 0)::bigint AS "balanceIssuedKopeks",
       coalesce(sum(y.subscriptions), 0)::int AS "subscriptionRegistrations",
       coalesce(sum(y.tariffs), 0)::int AS "tariffRegistrations"
     FROM advertising_campaigns c LEFT JOIN (
       SELECT campaign_id, sum(registrations) AS registrations, sum(balance_issued_kopeks) AS balance,
         sum(subscription_registrations) AS subscriptions, sum(tariff_registrations) AS tariffs
       FROM campaign_counters GROUP BY campaign_id) y ON y.campaign_id = c.id`,
  );
  return row!;
}
