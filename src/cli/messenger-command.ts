import type { SettingsReader } from '../core/app.ts';
import { MessengerError } from '../domain/messaging/ports.ts';
import { barePath } from '../domain/settings/change-setting.ts';
import { type Command, CommandError } from './command.ts';
import { withApp } from './open-service.ts';

/** Where the messenger has to send updates; null while WEBHOOK_URL is not set. */
export function messengerWebhookOf(settings: SettingsReader): string | null {
  const base = settings.get('WEBHOOK_URL');
  return base ? bareAddress(base) + barePath(settings.get('WEBHOOK_PATH')) : null;
}

export const bareAddress = (url: string): string => url.replace(/\/+$/, '');

/** `messenger set-webhook`: neither an import nor a start calls the messenger by itself (spec 07 section 9). */
export const setWebhookCommand: Command = {
  name: 'messenger set-webhook',
  parameters: '',
  summary:
    'Register the address of this service, with WEBHOOK_SECRET_TOKEN, at the messenger, which sends updates there from then on.',
  details: 'In place of the address of another program with the same bot: stop that first, else it may register its own again.',
  words: [0, 0],
  runsInService: true,
  run: (call) =>
    withApp(call, async ({ settings, ports: { messenger } }) => {
      const url = messengerWebhookOf(settings);
      if (!messenger.isConfigured()) throw new CommandError('BOT_TOKEN is not set: there is no bot to register an address for.');
      if (url === null) throw new CommandError('WEBHOOK_URL is not set: set it to the address of this service.');
      if (!settings.get('WEBHOOK_SECRET_TOKEN'))
        throw new CommandError(
          'WEBHOOK_SECRET_TOKEN is not set: without it this service refuses every update. Set it to a long random text.',
        );
      try {
        await messenger.setWebhook(url);
      } catch (error) {
        if (!(error instanceof MessengerError)) throw error;
        throw new CommandError(`The messenger did not register the address: ${error.message}.`, { cause: error });
      }
      return { text: `The messenger sends updates to ${url} now.`, data: { url } };
    }),
};
