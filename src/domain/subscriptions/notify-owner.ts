import type { App } from '../../core/app.ts';
import type { MailParams } from '../messaging/render-mail.ts';
import { notifyUser, type Recipient } from '../messaging/send-message.ts';
import type { TemplateVariable } from '../messaging/templates/template-variables.ts';
import { htmlText } from '../messaging/texts.ts';
import type { OwnerNotices } from './events.ts';

/** Notices that lack a value which administrators' templates of their mail may use: none, or this does not compile. */
type Incomplete = {
  [T in keyof OwnerNotices]: Exclude<TemplateVariable<T>, keyof OwnerNotices[T]> extends never ? never : T;
}[keyof OwnerNotices];
type Complete<T> = [Incomplete] extends [never] ? T : undefined;

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
    mailParams: context as unknown as Complete<MailParams<T>>,
    // The compiler cannot conclude that each of these events has the context of its name.
    event: `notification.${type}` as 'notification.subscription_expired',
    context: context as Record<string, never>,
    // Most are about money: a second notice looks like a second charge (spec 10 F8).
    isOnce: true,
  });
}
