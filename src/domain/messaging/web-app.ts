import type { App } from '../../core/app.ts';

/** The service's public address, without a slash at the end. */
export function publicBase(app: App): string {
  const known = app.settings.get('WEBHOOK_URL');
  return (known ?? `http://127.0.0.1:${app.env.port}`).replace(/\/+$/, '');
}

/** Where the menu is the cabinet: its address, without a slash at the end. Null where it is the chat (spec 05 section 3.4). */
export function webAppBase({ settings }: Pick<App, 'settings'>): string | null {
  const url = settings.get('MINIAPP_CUSTOM_URL').trim().replace(/\/+$/, '');
  return settings.get('MAIN_MENU_MODE') === 'cabinet' && url !== '' ? url : null;
}
