import type { RegistrationRequest, UserChanges } from '../../src/domain/users/account/save-user.ts';
import { unique } from './builders.ts';

/** A new user of the Web API, of whom only the messenger id is known. */
export const aRegistration = (fields: Partial<RegistrationRequest> = {}): RegistrationRequest => ({
  messengerId: 6_000_000_000 + unique(),
  username: null,
  firstName: null,
  lastName: null,
  language: 'ru',
  referredById: null,
  promoGroupId: null,
  ...fields,
});

/** A change of a user over the Web API that names these fields. */
export const userChanges = (fields: Partial<UserChanges>): UserChanges => ({
  username: null,
  firstName: null,
  lastName: null,
  language: null,
  status: null,
  promoGroupId: null,
  referralCode: null,
  hasHadPaidSubscription: null,
  hasMadeFirstTopup: null,
  ...fields,
});
