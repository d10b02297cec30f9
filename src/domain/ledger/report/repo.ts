import type { Db } from '../../../core/db/db.ts';

/** One account, or all wallets together (`key` null); kopeks, signed as in the ledger. */
export interface AccountLine {
  kind: string;
  key: string | null;
  openingKopeks: number;
  /** What came to the account; at least 0. */
  inKopeks: number;
  /** What left it; at most 0. */
  outKopeks: number;
  closingKopeks: number;
}

/** Movements of one type at one account, or at all wallets (`key` null). Over the accounts of a type, in and out sum to zero. */
export interface TurnoverLine {
  type: string;
  kind: string;
  key: string | null;
  entries: number;
  inKopeks: number;
  outKopeks: number;
}

/** All accounts by kind and key, with what moved in [from, to). */
export async function sumAccounts(db: Db, from: Date, to: Date): Promise<AccountLine[]> {
  const rows = await db.sql<{ kind: string; key: string | null; opening: bigint; moneyIn: bigint; moneyOut: bigint }>(
    `SELECT a.kind, CASE WHEN a.kind <> 'user_wallet' THEN a.key END AS key,
       coalesce(sum(e.kopeks) FILTER (WHERE e.created_at < $1::timestamptz), 0)::bigint AS opening,
       coalesce(sum(e.kopeks) FILTER (WHERE e.created_at >= $1::timestamptz AND e.kopeks > 0), 0)::bigint AS money_in,
       coalesce(sum(e.kopeks) FILTER (WHERE e.created_at >= $1::timestamptz AND e.kopeks < 0), 0)::bigint AS money_out
     FROM ledger_accounts a LEFT JOIN ledger_entries e ON e.account_id = a.id AND e.created_at < $2::timestamptz
     GROUP BY 1, 2 ORDER BY 1, 2`,
    [from, to],
  );
  return rows.map(({ kind, key, opening, moneyIn, moneyOut }) => {
    const [openingKopeks, inKopeks, outKopeks] = [Number(opening), Number(moneyIn), Number(moneyOut)];
    return { kind, key, openingKopeks, inKopeks, outKopeks, closingKopeks: openingKopeks + inKopeks + outKopeks };
  });
}

/** Movements of [from, to) by type and account. */
export async function sumTurnover(db: Db, from: Date, to: Date): Promise<TurnoverLine[]> {
  const rows = await db.sql<{
    type: string;
    kind: string;
    key: string | null;
    entries: bigint;
    moneyIn: bigint;
    moneyOut: bigint;
  }>(
    `SELECT t.type, a.kind, CASE WHEN a.kind <> 'user_wallet' THEN a.key END AS key, count(*) AS entries,
       coalesce(sum(e.kopeks) FILTER (WHERE e.kopeks > 0), 0)::bigint AS money_in,
       coalesce(sum(e.kopeks) FILTER (WHERE e.kopeks < 0), 0)::bigint AS money_out
     FROM ledger_entries e JOIN transactions t ON t.id = e.transaction_id JOIN ledger_accounts a ON a.id = e.account_id
     WHERE e.created_at >= $1::timestamptz AND e.created_at < $2::timestamptz
     GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    [from, to],
  );
  return rows.map(({ type, kind, key, entries, moneyIn, moneyOut }) => {
    return { type, kind, key, entries: Number(entries), inKopeks: Number(moneyIn), outKopeks: Number(moneyOut) };
  });
}
