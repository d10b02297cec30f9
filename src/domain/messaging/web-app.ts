import type { App } from '../../core/app.ts';

/** Where the menu is the cabinet: its address, without a slash at the end. Null where it is the chat (spec 05 section 3.4). */
export function webAppBase({ settings }: Pick<App, 'settings'>): string | null {
  const url = settings.get('MINIAPP_CUSTOM_URL').trim().replace(/\/+$/, '');
  return settings.get('MAIN_MENU_MODE') === 'cabinet' && url !== '' ? url : null;
}
