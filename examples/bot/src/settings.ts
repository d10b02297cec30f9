import { readFileSync } from 'node:fs';

export interface Settings {
  /** Address of the service. */
  serviceUrl: string;
  /** API token of the service, sent as `X-API-Key`. */
  apiKey: string;
  botToken: string;
  /** Another Bot API than the messenger's, such as the sandbox. */
  botApiRoot: string | undefined;
  /** The service accepts forwarded updates only with it. */
  webhookSecret: string;
  /** Where the bot stores which answer it waits for from whom. */
  stateFolder: string;
}

/** @throws Error that names the variable that is missing */
export function readSettings(environment: NodeJS.ProcessEnv): Settings {
  return {
    serviceUrl: required(environment, 'SERVICE_URL').replace(/\/+$/, ''),
    apiKey: environment.API_KEY ?? readFileSync(required(environment, 'API_KEY_FILE'), 'utf8').trim(),
    botToken: required(environment, 'BOT_TOKEN'),
    botApiRoot: environment.BOT_API_ROOT,
    webhookSecret: required(environment, 'WEBHOOK_SECRET_TOKEN'),
    stateFolder: environment.BOT_STATE_FOLDER ?? 'bot-state',
  };
}

function required(environment: NodeJS.ProcessEnv, name: string): string {
  const value = environment[name];
  if (!value) throw new Error(`${name} is not set; see examples/bot/README.md`);
  return value;
}
