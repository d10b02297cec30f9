import type { App } from '../../core/app.ts';
import { recordStep } from '../access/audit-log.ts';
import { findUserById } from '../identity/find-user.ts';
import { renderMailOf } from '../messaging/send-mail.ts';
import { notifyUser, recipientOf, sendMessage } from '../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../messaging/texts.ts';
import type { CHANGES } from './events.ts';
import type { DataRequest } from './repo.ts';
import type { Farewell } from './types.ts';

/** Notifies the person of a step of a request, whoever took it: what a thief asks for is seen. In the transaction of the step. */
export async function announce(t: App, request: DataRequest, change: (typeof CHANGES)[number]): Promise<void> {
  const user = await findUserById(t, request.userId);
  if (!user) return;
  const dueAt = change === 'erasure_requested' ? request.dueAt : null;
  const sentence: TextKey = `messages.personal_data_${change}`;
  const values = { date: dueAt ? `${dueAt.toISOString().slice(0, 16).replace('T', ' ')} UTC` : '' };
  await notifyUser(t, recipientOf(user), {
    html: htmlText(user.language, sentence, values),
    mail: 'personal_data',
    mailParams: { change: text(user.language, sentence, values) },
    event: 'notification.personal_data',
    context: { change, due_at: dueAt?.toISOString() ?? null },
  });
}

/**
 * The last message to a person; best effort. The job of the messenger is deleted with its id within 7 days.
 * @returns the mail to send instead to a person without a messenger: it is in no queue, where the address would stay
 */
export async function sayFarewell(t: App, userId: number): Promise<Farewell | null> {
  const user = await findUserById(t, userId);
  if (user === null || user.status !== 'active') return null;
  const { messengerId, verifiedEmail, language } = recipientOf(user);
  if (messengerId === null) return verifiedEmail === null ? null : { to: verifiedEmail, language };
  await sendMessage(t, { messengerId, html: htmlText(language, 'messages.personal_data_erased', {}) });
  return null;
}

/** Sends the last mail, once: whether the server has it or not, nothing of it stays. */
export async function mailFarewell(app: App, { to, language }: Farewell): Promise<void> {
  if (!app.ports.mail.isConfigured()) return;
  const change = text(language, 'messages.personal_data_erased', {});
  const mail = await renderMailOf(app, { language, type: 'personal_data', params: { change } });
  try {
    await app.ports.mail.send({ to, ...mail });
  } catch (error) {
    // Any failure: the erasure does not depend on the mail server.
    app.log.warn({ kind: error instanceof Error ? error.name : 'unknown' }, 'the last mail to an erased person was not sent');
  }
}

/** Records a step that the person, a command or a job took. What administrators do is recorded with their request. */
export function recordDataStep(
  t: App,
  request: Pick<DataRequest, 'id' | 'userId' | 'kind'>,
  actorName: string,
  step: string,
): Promise<void> {
  return recordStep(t, actorName, {
    ...{
      command: `personal data: ${request.kind} ${step}`,
      permission: `personal_data:${request.kind === 'export' ? 'export' : 'erase'}`,
    },
    ...{ resourceId: String(request.userId), before: null, after: { request: request.id, step } },
    method: 'STEP',
  });
}
