import type { App } from '../../core/app.ts';
import { notifyUser, type Recipient } from '../messaging/notify-user.ts';
import { htmlText } from '../messaging/texts.ts';
import type { OwnerNotices } from './events.ts';

/**
 * Notifies the owner of a subscription of what the service did without a request: by messenger, mail and event, each under the name of
 * `type` and with the same values. In the caller's transaction.
 */
export function notifyOwner<T extends keyof OwnerNotices>(
  t: App,
  owner: Recipient,
  type: T,
  context: OwnerNotices[T],
): Promise<void> {
  return notifyUser(t, owner, {
    html: htmlText(owner.language, `messages.${type}`, context),
    mail: type,
    mailParams: context,
    // The compiler cannot conclude that each of these events has the context of its name.
    event: `notification.${type}` as 'notification.subscription_expired',
    context: context as Record<string, never>,
  });
}
