import type { AnyEvent } from '@subscription-service/client';
import { useEffect, useRef, useState } from 'react';
import { client, useMayFollow } from './service.ts';
import { clock, money, useLanguage, useTexts, wordOf } from './texts.ts';

const SHOWN_EVENTS = 20;
/** Without the feed the numbers are loaded again at this interval. */
const WITHOUT_FEED_MS = 60_000;
/** Events of one purchase come together: they cause one load. */
const TOGETHER_MS = 250;

/** Calls `reload` after events that change what is shown, and whenever events may have been missed. */
export function useReloadOn(types: readonly string[], reload: () => void): void {
  const mayFollow = useMayFollow();
  const latest = useRef(reload);
  latest.current = reload;
  const names = types.join();
  useEffect(() => {
    if (!mayFollow) {
      const timer = setInterval(() => latest.current(), WITHOUT_FEED_MS);
      return () => clearInterval(timer);
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => latest.current(), TOGETHER_MS);
    };
    const stops = [
      client.feed.onAnyEvent(({ type }) => names.split(',').includes(type) && soon()),
      client.feed.onGap(() => latest.current()),
    ];
    return () => {
      clearTimeout(timer);
      for (const stop of stops) stop();
    };
  }, [mayFollow, names]);
}

/** State of the connection; nothing for an administrator whom the service does not send events. */
export function FeedStatus() {
  const texts = useTexts();
  const mayFollow = useMayFollow();
  const [status, setStatus] = useState(client.feed.status);
  useEffect(() => {
    if (!mayFollow) return;
    const stops = [client.feed.onStatus(setStatus), client.feed.onAnyEvent(() => undefined)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [mayFollow]);
  if (!mayFollow) return null;
  const words = { open: texts.live, refused: texts.refused } as Record<string, string>;
  return (
    <span className={status === 'open' ? 'live' : 'live away'} data-testid="feed-status" role="status">
      {words[status] ?? texts.offline}
    </span>
  );
}

/** The newest events of the service, as they come. */
export function LiveFeed() {
  const texts = useTexts();
  const language = useLanguage();
  const [events, setEvents] = useState<AnyEvent[]>([]);
  useEffect(() => client.feed.onAnyEvent((event) => setEvents((before) => [event, ...before].slice(0, SHOWN_EVENTS))), []);
  return (
    <section className="card" aria-label={texts.feed} data-testid="feed">
      <h2>{texts.feed}</h2>
      {events.length === 0 && <p className="soft">{texts.noEvents}</p>}
      <ol className="feed" aria-live="polite">
        {events.map((event) => {
          const payload = (event.payload ?? {}) as Record<string, unknown>;
          return (
            <li key={String(event.event_id)}>
              <time className="soft">{clock(`${String(event.timestamp)}Z`, language)}</time>
              <span>
                {wordOf(texts, event.type)}
                {typeof payload.user_id === 'number' && <a href={`#/users/${payload.user_id}`}> #{payload.user_id}</a>}
              </span>
              <span className="number">
                {typeof payload.amount_kopeks === 'number' && money(payload.amount_kopeks, language)}
              </span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
