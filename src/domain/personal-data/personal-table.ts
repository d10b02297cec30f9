/**
 * Every table that says something about a person: what the archive has of it, and what an erasure does (spec 01 section 4.9). A test
 * compares the list with the database: a new table or column must be entered here or in `impersonal-tables.ts`.
 *
 * Conditions and values are SQL on a row `r`. Names with a dollar sign are what is known of the person: `$user` the id, `$messenger` the id in the
 * messenger, `$emails` the addresses in lower case, `$panel` the panel user, `$name` the name that others were shown,
 * `$at` the time of the erasure: later rows of the same address are of a new account.
 */
export interface PersonalTable {
  table: string;
  /** Of the file in the archive, where it is not `table`. */
  name?: string;
  /** Whose row it is. */
  of: string;
  /** The column by which the archive is read page by page, unique among the rows of a person. Left out: `id`. */
  key?: string;
  /** Columns of the archive; left out: the table is not in it, because of `notExported`. */
  exports?: string;
  notExported?: string;
  /** Columns that the archive leaves out, by reason. */
  withheld?: { secret?: string; internal?: string; ofOthers?: string };
  erasure: Erasure;
}

export type Erasure =
  /** The row of the account itself: its personal columns are cleared (`users/removal-repo.ts`). */
  | { by: 'account' }
  /** Rows are deleted with the account, by their foreign key to it or to a row that is deleted so. */
  | { by: 'owner' }
  /** The row stays without its reference to the account, by its foreign key; nothing else in it is personal. */
  | { by: 'reference' }
  | { by: 'delete'; when: Phase; unless?: string }
  /** Columns get another value; the others stay, because of `why`. */
  | { by: 'clear'; when: Phase; set: Readonly<Record<string, string>>; why: string; unless?: string }
  | { by: 'kept'; why: string };

/** `before`: in the transaction of the erasure, before references to the account are removed; `afterwards`: by the job that follows it. */
export type Phase = 'before' | 'afterwards';

export const MINE = 'r.user_id = $user';
export const OF_MY_SUBSCRIPTION = 'r.subscription_id IN (SELECT s.id FROM subscriptions s WHERE s.user_id = $user)';
export const OF_MY_PAYMENT = 'r.payment_id IN (SELECT p.id FROM payments p WHERE p.user_id = $user)';
export const OWNER: Erasure = { by: 'owner' };

/** A table that is not in the archive. */
export function unexported(table: string, of: string, notExported: string, erasure: Erasure): PersonalTable {
  return { table, of, notExported, erasure };
}
