/** The text by which an event of the measurement is known in the frame of a socket. */
export function eventText(number: number): string {
  return `event-latency ${number}`;
}

/** Number of the event that a frame carries; null for any other frame. */
export function numberInFrame(frame: string): number | null {
  const found = /"event-latency (\d+)"/.exec(frame)?.[1];
  return found === undefined ? null : Number(found);
}
