import type { App } from '../../src/core/app.ts';

/** What a test takes away from an app until `restore`. */
export interface Switches {
  /** Values of settings in place of the stored ones. */
  settings: Map<string, unknown>;
  hasMail: boolean;
  hasBot: boolean;
  /** Part of a key of the short-lived store, whose entries cannot be written: the database is away. */
  lostKey: string | null;
  restore(): void;
}

/** An app whose settings, mail, bot and short-lived store a test switches off. Settings of the server's start are not among them. */
export function switchableApp(app: App): { app: App; switches: Switches } {
  const switches: Switches = { ...initial(), restore: () => void Object.assign(switches, initial()) };
  const get = (key: string) => (switches.settings.has(key) ? switches.settings.get(key) : app.settings.get(key as 'BOT_TOKEN'));
  const sql: App['db']['sql'] = (text, values) => {
    const isLost = switches.lostKey !== null && String(values?.[0]).startsWith(switches.lostKey);
    if (isLost) return Promise.reject(Object.assign(new Error('down'), { code: 'ECONNREFUSED' }));
    return app.db.sql(text, values);
  };
  const { mail, messengerIdentity } = app.ports;
  return {
    switches,
    app: {
      ...app,
      db: { ...app.db, sql },
      settings: { ...app.settings, get: get as App['settings']['get'] },
      ports: {
        ...app.ports,
        mail: { ...mail, isConfigured: () => switches.hasMail && mail.isConfigured() },
        messengerIdentity: {
          ...messengerIdentity,
          botUsername: () => (switches.hasBot ? messengerIdentity.botUsername() : null),
        },
      },
    },
  };
}

const initial = () => ({ settings: new Map<string, unknown>(), hasMail: true, hasBot: true, lostKey: null });
