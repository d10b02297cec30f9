/** What happened to each socket of a drill. */
import type { Watcher } from './event-proof.ts';
import { textTable } from './report.ts';

export function renderSockets(watchers: readonly Watcher[]): string {
  const endings = (watcher: Watcher) =>
    [...watcher.socket.record.endings].map(([ending, count]) => `${count} × ${ending}`).join(', ');
  const rows = watchers.map((watcher) => {
    const { name, record } = watcher.socket;
    const others = [...record.otherFrames].map(([type, count]) => `${count} × ${type}`).join(', ');
    return [
      name,
      String(record.events.length),
      String(record.reconnects),
      record.hasIds ? 'yes' : 'no',
      endings(watcher),
      others,
    ];
  });
  return textTable(['socket', 'events', 'reconnects', 'frames have an id', 'connections ended', 'other frames'], rows);
}
