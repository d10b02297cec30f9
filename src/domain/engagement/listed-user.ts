import { columns, type RowOf } from '../../core/db/columns.ts';
import { fullName } from '../identity/rules.ts';

/** A user in a list; the name is made of what the account has (spec 04 section 10.4). */
export interface ListedUser {
  id: number;
  messengerId: number | null;
  username: string | null;
  fullName: string;
}

/** The columns that the name is made of, besides the id. */
export const LISTED_USER = columns('User', ['messengerId', 'username', 'firstName', 'lastName', 'email']);

export type ListedUserRow = RowOf<typeof LISTED_USER>;

export function listedUser(user: { id: number } & ListedUserRow): ListedUser {
  return { id: user.id, messengerId: user.messengerId, username: user.username, fullName: fullName(user) };
}
