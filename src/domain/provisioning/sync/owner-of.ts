import type { App } from '../../../core/app.ts';
import { isHandedOver } from '../hand-over.ts';
import { isLinkageValid } from '../rules.ts';
import type { MatchedEntry } from './snapshot-repo.ts';
import type { SnapshotEntry, SyncedUser } from './types.ts';

/**
 * Whose panel user is this? By the stored uuid where nothing speaks against it, by messenger id, by confirmed e-mail (spec 06 section 17, hazard 4). One
 * that was handed over to another account still carries the old messenger id until its next push, and belongs to the new account.
 * Who has another panel user in the list already keeps that one.
 * @returns `unknown`: no account has its messenger id; null: it is nobody's business
 */
export async function ownerOf(
  t: App,
  { entry: { user }, holderId, byMessengerId, isAnotherListed, byEmail }: MatchedEntry,
  owners: ReadonlyMap<number, SyncedUser>,
): Promise<number | 'unknown' | null> {
  const holder = holderId === null ? null : (owners.get(holderId) ?? null);
  const isHolders = holder !== null && isLinkageValid(user, holder.messengerId);
  if (holder !== null && !isHolders && (await isHandedOver(t, user))) return holder.id;
  if (user.messengerId !== null) {
    if (isAnotherListed) return null;
    return byMessengerId ?? (isHolders ? holderId : 'unknown');
  }
  if (isHolders) return holderId;
  const named = byEmail === null ? null : owners.get(byEmail);
  return named && named.panelUuid === null ? named.id : null;
}

/** A panel user, and the account that it belongs to. */
export interface OwnedEntry {
  entry: SnapshotEntry;
  ownerId: number;
}

/**
 * Two panel users may belong to one account, one by messenger id and one by e-mail alone. An account gets the whole of one of them,
 * never the uuid of one with the address and the end of the other: the one that it holds, else the one with the messenger id.
 */
export function onePerOwner(known: readonly OwnedEntry[], owners: ReadonlyMap<number, SyncedUser>): OwnedEntry[] {
  const rank = ({ entry: { user }, ownerId }: OwnedEntry): number => {
    if (owners.get(ownerId)?.panelUuid === user.uuid) return 0;
    return user.messengerId === null ? 2 : 1;
  };
  const chosen = new Map<number, OwnedEntry>();
  for (const owned of known) {
    const other = chosen.get(owned.ownerId);
    if (!other || rank(owned) < rank(other)) chosen.set(owned.ownerId, owned);
  }
  return [...chosen.values()];
}
