import type { Rows } from '../../../core/db/columns.ts';

/** Promo codes. The meaning of the columns is described at the models. */

export type Promocode = Rows['Promocode'];

/** What can be set on a code. */
export type PromocodeValues = Omit<Promocode, 'id' | 'currentUses' | 'createdBy' | 'createdAt' | 'updatedAt'>;

/** One activation as administrators see it. */
export interface PromocodeUse extends Pick<Rows['PromocodeUse'], 'id' | 'userId' | 'usedAt'> {
  userUsername: string | null;
  userFullName: string;
  userMessengerId: number | null;
}

export interface PromocodeDetails {
  promocode: Promocode;
  totalUses: number;
  /** Since 00:00 UTC. */
  todayUses: number;
  /** The last ten, newest first. */
  recentUses: PromocodeUse[];
}

/** The data of the user that the checks of an activation use. */
export interface RedeemerFacts {
  hasUsedCode: boolean;
  /** Activations in the last 24 hours, including deactivated ones. */
  activationsToday: number;
  hasHadPaid: boolean;
  hasActiveDiscount: boolean;
  hasSubscription: boolean;
}

/** The personal discount of a user (spec 02 section 2.1). */
export interface PersonalDiscount {
  percent: number;
  /** `promocode:{CODE}` when it came from a code. */
  source: string | null;
  /** null = until the first purchase. */
  expiresAt: Date | null;
}
