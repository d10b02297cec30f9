import type { App } from '../../../core/app.ts';
import { SECOND_MS } from '../../../core/clock.ts';
import { patchOf, presentState } from '../panel-fields.ts';
import type { PanelUser } from '../ports.ts';
import type { PushTarget } from '../repo.ts';
import { isSameSet, squadsOf } from './rules.ts';

/** Squads that the panel has now; it never accepts others. */
export interface PanelSquads {
  internal: ReadonlySet<string>;
  external: ReadonlySet<string>;
}

/** What a push would change at the panel; `squads`: the internal squads and nothing else. */
export type Difference = 'none' | 'squads' | 'other';

/**
 * Compares a panel user with its subscription by effect: whether it has access and until when, not by the word of its status (08 P2).
 * The panel keeps a user EXPIRED that was told to be DISABLED, so the words may differ for ever.
 */
export function differenceFrom(app: App, target: PushTarget, present: PanelUser, known: PanelSquads): Difference {
  const patch = patchOf(app, target, present);
  const { uuid: _uuid, status: _status, expireAt: _expireAt, squadUuids, email, externalSquadUuid, ...rest } = patch;
  const isSameEmail = email === undefined || email.toLowerCase() === present.email?.toLowerCase();
  const isSame = (Object.keys(rest) as (keyof typeof rest)[]).every((field) => rest[field] === present[field]);
  const isStale = typeof externalSquadUuid === 'string' && !known.external.has(externalSquadUuid);
  const isSameExternal = externalSquadUuid === undefined || isStale || externalSquadUuid === present.externalSquadUuid;
  if (!isSameEmail || !isSame || !isSameExternal || !hasSameAccess(target, present, app.clock.now())) return 'other';
  const squads = squadUuids?.filter((squad) => known.internal.has(squad)) ?? [];
  return squads.length === 0 || isSameSet(squads, squadsOf(present)) ? 'none' : 'squads';
}

function hasSameAccess(target: PushTarget, present: PanelUser, now: Date): boolean {
  const wanted = presentState(target, now);
  // LIMITED is not cut off: its next traffic reset opens it.
  if (wanted.status === 'DISABLED') return present.status === 'DISABLED' || present.status === 'EXPIRED';
  const isOpen = present.status === 'ACTIVE' || present.status === 'LIMITED';
  return isOpen && Math.abs(wanted.expireAt.getTime() - present.expireAt.getTime()) < SECOND_MS;
}
