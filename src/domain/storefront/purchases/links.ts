import type { App } from '../../../core/app.ts';
import '../../identity/ports.ts';
import '../../messaging/ports.ts';

/** The page of the cabinet that shows a purchase. */
export function successUrl(app: App, token: string): string {
  return `${cabinetUrl(app)}/buy/success/${token}`;
}

/** The cabinet's own address, without a slash at the end. */
export function cabinetUrl(app: App): string {
  return app.settings.get('CABINET_URL').replace(/\/+$/, '');
}

/** Link to the bot, for a recipient who has not used it; null while its name is unknown. */
export function botLink(app: App): string | null {
  const name = app.ports.messengerIdentity.botUsername();
  return name ? app.ports.messenger.linkTo(name) : null;
}
