import type { Rows } from '../../core/db/columns.ts';
import type { PromoGroup } from './repo.ts';

export type { PromoGroup } from './repo.ts';

/** A promo group as administrators see it (spec 04 section 8). */
export type PromoGroupRecord = Rows['PromoGroup'] & {
  /** Users whose primary group it is. */
  membersCount: number;
};

/** What can be set on a group. */
export type PromoGroupValues = Omit<PromoGroup, 'id' | 'isDefault' | 'priority'> &
  Pick<PromoGroupRecord, 'autoAssignTotalSpentKopeks'>;

/** How a user was added to a group; deactivating a promo code removes only a membership of a promo code (spec 04 section 7.5). */
export type AssignedBy = Rows['UserPromoGroup']['assignedBy'];
