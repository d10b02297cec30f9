import type { StoredUser } from './panel-data.ts';
import type { PanelState } from './panel-state.ts';
import { currentStatus } from './user-rules.ts';

const STATUS_REMARKS = {
  DISABLED: 'Subscription is disabled',
  LIMITED: 'Traffic limit is reached',
  EXPIRED: 'Subscription has expired',
};

/** Links that a client application imports: one a node; a user who is not active gets one link that only shows the reason. */
export function linksOf(state: PanelState, user: StoredUser): string[] {
  const status = currentStatus(user, state.clock.now());
  if (status !== 'ACTIVE') return [vlessLink(user, '0.0.0.0', 1, STATUS_REMARKS[status])];
  const inbounds = new Set(
    state.meta.internalSquads.filter((squad) => user.squadUuids.includes(squad.uuid)).flatMap((squad) => squad.inboundUuids),
  );
  return state.meta.nodes
    .filter((node) => !node.isDisabled && inbounds.has(node.inboundUuid))
    .map((node) => vlessLink(user, node.address, 443, node.name));
}

function vlessLink(user: StoredUser, host: string, port: number, remark: string): string {
  const query = new URLSearchParams({
    type: 'tcp',
    security: 'reality',
    encryption: 'none',
    flow: 'xtls-rprx-vision',
    sni: 'sandbox.invalid',
    fp: 'chrome',
    // Has the form of a key, but gives no access.
    pbk: Buffer.alloc(32, 1).toString('base64url'),
  });
  return `vless://${user.vlessUuid}@${host}:${port}?${query}#${encodeURIComponent(remark)}`;
}

/** The subscription as a client application fetches it. */
export function subscriptionBody(state: PanelState, user: StoredUser): { headers: Record<string, string>; body: string } {
  const expire = Math.floor(Date.parse(user.expireAt) / 1000);
  return {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'profile-title': `base64:${Buffer.from('Sandbox').toString('base64')}`,
      'profile-update-interval': '12',
      'subscription-userinfo': `upload=0; download=${user.usedTrafficBytes}; total=${user.trafficLimitBytes}; expire=${expire}`,
    },
    body: Buffer.from(linksOf(state, user).join('\n')).toString('base64'),
  };
}
