import type { App } from '../../../core/app.ts';
import { unauthorized } from '../errors.ts';
import type { WidgetData } from '../ports.ts';
import { INIT_DATA_MAX_AGE_SECONDS } from '../rules.ts';
import type { SignIn } from '../sessions/open-session.ts';
import { signInAsMessengerUser } from '../sign-in-with-messenger.ts';
import { proveIdToken } from './prove-id-token.ts';

export const widgetDataInvalid = unauthorized('widget_data_invalid', 'Invalid or expired Messenger authentication data');

/**
 * Signs in with the fields of the messenger's login widget; the first time creates the account (spec 01 section 5.1).
 * @param referralCode used only when this request creates the account
 * @throws AppError 401 for fields that the messenger did not sign | 403 'User account is not active'
 */
export async function signInWithWidget(app: App, data: WidgetData, referralCode: string | null): Promise<SignIn> {
  if (!app.ports.messengerIdentity.verifyWidget(data, INIT_DATA_MAX_AGE_SECONDS)) throw widgetDataInvalid();
  const proved = {
    messengerId: data.id,
    username: data.username ?? null,
    firstName: data.first_name ?? null,
    lastName: data.last_name ?? null,
    language: null,
  };
  return signInAsMessengerUser(app, proved, { referralCode, clearsLastName: true });
}

/**
 * Signs in with an OpenID Connect token of the messenger; the first time creates the account (spec 01 section 5.1).
 * @param referralCode used only when this request creates the account
 * @throws AppError 400 'Messenger OIDC is not configured' | 401 | 403 'User account is not active' | 503
 */
export async function signInWithIdToken(app: App, idToken: string, referralCode: string | null): Promise<SignIn> {
  return signInAsMessengerUser(app, await proveIdToken(app, idToken), { referralCode });
}
