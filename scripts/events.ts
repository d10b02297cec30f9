/**
 * Compares docs/events.md and the event types of the client package with the definitions of the events; `--write` writes them.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { EVENT_CATALOGUE } from '../src/routers/event-catalogue.ts';
import { renderEventPage, renderEventTypes, renderNoticeTypes } from './render-events.ts';

const FILES = {
  '../docs/events.md': renderEventPage(EVENT_CATALOGUE),
  '../packages/client/src/event-types.ts': renderEventTypes(EVENT_CATALOGUE),
  '../packages/client/src/notice-types.ts': renderNoticeTypes(EVENT_CATALOGUE),
};

for (const [path, text] of Object.entries(FILES)) {
  const url = new URL(path, import.meta.url);
  if (process.argv.includes('--write')) writeFileSync(url, text);
  else if (readFileSync(url, 'utf8') !== text) {
    console.error(`${path.slice(3)} is not current (run: node scripts/on-runtime.mjs scripts/events.ts --write)`);
    process.exitCode = 1;
  }
}
