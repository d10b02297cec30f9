import { useEffect, useRef } from 'react';
import { client } from './service.ts';
import { useLoaded } from './use-loaded.ts';

const SCRIPT = 'https://telegram.org/js/telegram-widget.js?22';

type Settings = Awaited<ReturnType<typeof client.api.branding.messengerWidget.query>>;

/** The messenger's button, which its script draws and which returns to `/auth/widget`. The messenger does not know the bot of a sandbox. */
export function LoginWidget({ settings }: { settings: Settings }) {
  const place = useRef<HTMLDivElement>(null);
  const health = useLoaded(() => client.open.health.check.query());
  const isReal = health.value !== null && !health.value.sandbox.includes('messenger');
  useEffect(() => {
    const parent = place.current;
    if (!isReal || !parent) return;
    const script = document.createElement('script');
    script.async = true;
    script.src = SCRIPT;
    script.dataset.telegramLogin = settings.bot_username;
    script.dataset.size = settings.size;
    script.dataset.radius = String(settings.radius);
    script.dataset.userpic = String(settings.userpic);
    script.dataset.authUrl = `${location.origin}/auth/widget`;
    if (settings.request_access) script.dataset.requestAccess = 'write';
    parent.append(script);
    return () => parent.replaceChildren();
  }, [isReal, settings]);
  return isReal ? <div ref={place} /> : null;
}
