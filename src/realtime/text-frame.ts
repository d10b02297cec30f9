import type { DeliveredEvent } from '../core/events/event-bus.ts';

const TEXT_FRAME = 0x81;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/**
 * A whole unmasked WebSocket text frame (RFC 6455 section 5.2). What a server sends is not masked, so one frame made once serves
 * every socket.
 */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headLength = length < LENGTH_16 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headLength + length);
  frame[0] = TEXT_FRAME;
  if (headLength === 2) frame[1] = length;
  else if (headLength === 4) {
    frame[1] = LENGTH_16;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = LENGTH_64;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headLength);
  return frame;
}

/**
 * `event_id` of a frame: the same for an event on every instance and after every resume or restart, while `id` is a position (spec 10 K4).
 * The time distinguishes events whose row numbers were given again after a restore of the database to an earlier moment.
 */
function eventIdOf({ id, createdAt }: DeliveredEvent): string {
  return `evt_${id.toString(36)}_${createdAt.getTime().toString(36)}`;
}

/**
 * An event as `/ws` sends it: UTC time without a zone, to the microsecond as clients know it (spec 00, Times). `id` is opaque: a client that
 * connects again with it as `after` receives what it missed (spec 08 S6).
 */
export function feedText(event: DeliveredEvent): string {
  const { type, payload, createdAt, positionText } = event;
  const timestamp = `${createdAt.toISOString().slice(0, -1)}000`;
  return JSON.stringify({ type, payload, timestamp, id: positionText, event_id: eventIdOf(event) });
}

/** An event as `/cabinet/ws` sends it: the payload's fields, `id` and `event_id` beside the type (spec 05 section 12.2). */
export function cabinetText(event: DeliveredEvent): string {
  const type = { type: event.type };
  // First for the reader, and again at the end so that no field of the payload replaces it.
  return JSON.stringify({ ...type, ...event.payload, ...type, id: event.positionText, event_id: eventIdOf(event) });
}
