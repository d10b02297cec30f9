import { z } from 'zod';
import type { PanelUserBytes } from '../../domain/provisioning/panel-objects.ts';
import type { PanelGeneration, VpnPanelPort } from '../../domain/provisioning/ports.ts';
import { isUuid, requireUuid, uuidFromPanelNumber } from './panel-generation.ts';
import { absentNode } from './panel-node-calls.ts';
import { dayOf, mustBeFound, type PanelAnswer, type PanelCall, type PanelTransport, panelPath } from './panel-transport.ts';
import { readPart } from './read-part.ts';

const bytes = z.coerce.number().nonnegative().catch(0);
/** The older generation: one row a user and day. */
const legacyRows = z.array(z.object({ userUuid: z.string().nullable().catch(null), total: bytes }));
/** The newer one: users of several nodes at once, by number. */
const usage = z.object({
  nodes: z.array(z.object({ uuid: z.string(), users: z.array(z.object({ id: z.int().positive(), totalBytes: bytes })) })),
});

/** Sums of whole bytes by user; without traffic or a uuid a row is left out. */
function summed(rows: Iterable<readonly [userUuid: string, totalBytes: number]>): PanelUserBytes[] {
  const sums = new Map<string, number>();
  for (const [name, totalBytes] of rows) {
    const userUuid = name.toLowerCase();
    if (isUuid(userUuid)) sums.set(userUuid, (sums.get(userUuid) ?? 0) + totalBytes);
  }
  return [...sums].flatMap(([userUuid, sum]) => {
    const totalBytes = Math.min(Math.round(sum), Number.MAX_SAFE_INTEGER);
    return totalBytes > 0 ? [{ userUuid, totalBytes }] : [];
  });
}

/** Traffic of each user through a node (spec 06 section 5); each generation of the panel has a call of its own. */
export function createUserBytesCalls(
  transport: PanelTransport,
  generation: () => Promise<PanelGeneration>,
): Pick<VpnPanelPort, 'listNodeUserBytes'> {
  return {
    async listNodeUserBytes(uuid, { from, to }) {
      const query = { start: dayOf(from), end: dayOf(to) };
      const node = requireUuid(uuid);
      if ((await generation()) === 'number') {
        const path = panelPath('bandwidth-stats', 'nodes', 'usage');
        const answer = await transport.call({ method: 'POST', path, query, body: { nodesUuids: [node] }, idempotent: true });
        const found = readPart(usage, mustBeFound(answer)).nodes.find((entry) => entry.uuid === node);
        return summed((found?.users ?? []).map((user) => [uuidFromPanelNumber(user.id), user.totalBytes]));
      }
      const path = panelPath('bandwidth-stats', 'nodes', node, 'users', 'legacy');
      const call: PanelCall = { method: 'GET', path, query, idempotent: true, isOfOneGeneration: true };
      const answer: PanelAnswer = await transport.call(call).catch(absentNode);
      if (!answer.found) return null;
      return summed(
        readPart(legacyRows, answer.value).flatMap(({ userUuid, total }) =>
          userUuid === null ? [] : [[userUuid, total] as const],
        ),
      );
    },
  };
}
