import type { Rows } from '../../../core/db/columns.ts';

/** Promo offers. Amounts are kopeks, durations hours, times UTC. The columns are described at the models. */

export type Offer = Rows['DiscountOffer'];

/** The terms of an offer; one open offer per user and notification type. */
export type OfferTerms = Pick<
  Rows['PromoOfferBroadcast'],
  'notificationType' | 'effectType' | 'discountPercent' | 'bonusAmountKopeks' | 'validHours' | 'extraData'
>;

/** A user of an offer or of a log entry. */
export type OfferUser = Pick<Rows['User'], 'id' | 'messengerId' | 'email' | 'username' | 'firstName' | 'lastName'> & {
  fullName: string;
};

type OfferSubscription = Pick<Rows['Subscription'], 'id' | 'status' | 'isTrial' | 'startDate' | 'endDate' | 'autopayEnabled'>;

export type OfferDetails = Offer & { user: OfferUser; subscription: OfferSubscription | null };

export type OfferLogEntry = Rows['PromoOfferLog'] & {
  user: OfferUser | null;
  offer: Pick<
    Offer,
    'id' | 'notificationType' | 'discountPercent' | 'bonusAmountKopeks' | 'effectType' | 'expiresAt' | 'claimedAt' | 'isActive'
  > | null;
};

export type OfferTemplate = Rows['PromoOfferTemplate'];

/** The fields of a template that can be changed. */
export type OfferTemplateValues = Omit<OfferTemplate, 'id' | 'offerType' | 'createdBy' | 'createdAt' | 'updatedAt'>;

/** A user as a request names one; at least one field must be set. Null and absent = not set. */
export interface NamedUser {
  userId?: number | null | undefined;
  messengerId?: number | null | undefined;
  /** Used only without a messenger id. */
  email?: string | null | undefined;
}

/** Null and absent = the default text of the service. */
export interface OfferMessage {
  messageText?: string | null | undefined;
  buttonText?: string | null | undefined;
}

/** The result of one call of "broadcast". */
export interface BroadcastResult {
  createdOffers: number;
  /** The first users who got an offer, `MAX_USER_IDS` at most. */
  userIds: number[];
  target: string | null;
  sent: number;
  failed: number;
}
