/** Promo offers (spec 04 section 9). Amounts are kopeks, durations hours, times UTC. */

/** What somebody is offered. */
export interface OfferTerms {
  /** At most 50 characters; one open offer a user and type. */
  notificationType: string;
  /** `test_access` lends servers; every other word gives a discount. */
  effectType: string;
  /** 0 to 100. */
  discountPercent: number;
  /** Shown only, never credited. */
  bonusAmountKopeks: number;
  /** How long it can be claimed. */
  validHours: number;
  extraData: Record<string, unknown>;
}

export interface Offer extends Omit<OfferTerms, 'validHours'> {
  id: number;
  userId: number;
  subscriptionId: number | null;
  expiresAt: Date;
  claimedAt: Date | null;
  /** False once claimed or over. */
  isActive: boolean;
  createdAt: Date;
  updatedAt: Date;
}

/** A user beside an offer or a line of the log. */
export interface OfferUser {
  id: number;
  messengerId: number | null;
  email: string | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  fullName: string;
}

export interface OfferSubscription {
  id: number;
  status: string;
  isTrial: boolean;
  startDate: Date;
  endDate: Date;
  autopayEnabled: boolean;
}

/** An offer with whom and what it is for. */
export interface OfferDetails extends Offer {
  user: OfferUser;
  subscription: OfferSubscription | null;
}

export type OfferLogAction = 'claimed' | 'consumed' | 'consumed_external_payment' | 'disabled';

export interface OfferLogEntry {
  id: number;
  userId: number | null;
  offerId: number | null;
  action: string;
  source: string | null;
  percent: number | null;
  effectType: string | null;
  details: Record<string, unknown>;
  createdAt: Date;
  user: OfferUser | null;
  offer: Pick<
    Offer,
    'id' | 'notificationType' | 'discountPercent' | 'bonusAmountKopeks' | 'effectType' | 'expiresAt' | 'claimedAt' | 'isActive'
  > | null;
}

/** What of a template can be changed. */
export interface OfferTemplateValues {
  name: string;
  /** The messenger's HTML with the five placeholders of `rules.ts`. */
  messageText: string;
  buttonText: string;
  validHours: number;
  discountPercent: number;
  bonusAmountKopeks: number;
  /** How long a claimed discount lasts; null = until the first purchase. */
  activeDiscountHours: number | null;
  testDurationHours: number | null;
  testSquadUuids: string[];
  isActive: boolean;
}

export interface OfferTemplate extends OfferTemplateValues {
  id: number;
  offerType: string;
  createdBy: number | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A user as a request names one; at least one of the three counts. */
export interface NamedUser {
  userId: number | null;
  messengerId: number | null;
  /** Counts only without a messenger id. */
  email: string | null;
}

export interface OfferMessage {
  /** Null = our own text. */
  text: string | null;
  buttonText: string | null;
}

/** What one call of "broadcast" has come to. */
export interface BroadcastResult {
  createdOffers: number;
  /** The first of those who got an offer; bounded (`MAX_USER_IDS`). */
  userIds: number[];
  target: string | null;
  sent: number;
  failed: number;
}
