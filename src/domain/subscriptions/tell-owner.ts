import type { App } from '../../core/app.ts';
import { notifyUser, type Recipient } from '../messaging/notify-user.ts';
import { htmlText } from '../messaging/texts.ts';
import type { OwnerNotices } from './events.ts';

/** Tells the owner of a subscription what the service did by itself, everywhere under one name and with the same values. */
export function tellOwner<T extends keyof OwnerNotices>(
  t: App,
  owner: Recipient,
  type: T,
  context: OwnerNotices[T],
): Promise<void> {
  return notifyUser(t, owner, {
    html: htmlText(owner.language, `messages.${type}`, context),
    mail: type,
    mailParams: context,
    // The compiler does not follow that each of these events carries the notice of its name.
    event: `notification.${type}` as 'notification.subscription_expired',
    context: context as Record<string, never>,
  });
}
