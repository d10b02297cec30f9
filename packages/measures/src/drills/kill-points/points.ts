/** What the drill and the module that it preloads into the service have in common. */

/** Header by which a request arms the count; its value is the number of the point at which the process ends, 0 = at none. */
export const ARM_HEADER = 'x-kill-point';

/** Environment variable with the path of the file that receives a line for each point. */
export const RECORD_VARIABLE = 'KILL_POINT_RECORD';

/** Environment variable with the names of the queues, joined by commas, whose jobs come by the clock: their points are not counted. */
export const SCHEDULED_VARIABLE = 'KILL_POINT_SCHEDULED';

const [BEFORE, AFTER] = ['before ', 'after '];

export const pointBefore = (place: string): string => `${BEFORE}${place}`;
export const pointAfter = (place: string): string => `${AFTER}${place}`;

/** Numbers of the points, but for those between which nothing has happened: an answer has come, and the next request is not sent yet. */
export function distinctPoints(points: readonly string[]): number[] {
  const isSame = (index: number) => points[index]!.startsWith(BEFORE) && points[index - 1]?.startsWith(AFTER);
  return points.flatMap((_point, index) => (isSame(index) ? [] : [index + 1]));
}
