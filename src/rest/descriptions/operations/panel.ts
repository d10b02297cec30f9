/** The VPN panel: the same operations for the Web API and for administrators. */
const WEB = '/vpnpanel';
const ADMIN = '/cabinet/admin/vpnpanel';

const STATUS =
  'Returns whether the panel is configured and answers, with the outcome of one attempt. A failure of the panel is reported in the answer with status 200.';
const SYSTEM = 'Returns current users, nodes, machine and traffic of the panel.';
const NODES = 'Lists the current nodes of the panel.';
const REALTIME = 'Returns the current traffic of the nodes, as the panel reports it.';
const NODE = 'Returns a node of the panel.';
const NODE_STATISTICS = 'Returns a node with its current traffic and its usage of the last 7 days.';
const NODE_USAGE =
  'Returns the usage of a node in a period by user and day, as the panel reports it. Without a period the last 7 days.';
const SQUADS = 'Lists the internal squads of the panel with members and inbounds.';
const CREATE_SQUAD =
  'Creates an internal squad in the panel with the given inbounds. It becomes a server with the next synchronisation of servers.';
const SQUAD = 'Returns an internal squad with its inbounds.';
const UPDATE_SQUAD = 'Changes name or inbounds of an internal squad in the panel.';
const SQUAD_ACTION =
  'Adds or removes all users, renames the squad, replaces its inbounds or deletes it, in the panel. The change affects connected users immediately.';
const INBOUNDS = 'Lists the inbounds of the panel, from which squads are made.';
const PREVIEW = 'Counts the subscriptions that a migration from a squad would change. Changes nothing.';
const MIGRATE =
  'Moves every active subscription from one squad to another, in batches, each first in the panel and then in the service. Users whom the panel refuses are not changed and are counted. One migration of a squad runs at a time; repeating the call continues with the rest.';
const FROM_PANEL =
  'Reads all users of the panel and overwrites end, limits, traffic and links of the subscriptions; with `all` and `new_only` missing users are created, those with an e-mail only as e-mail accounts that are not confirmed, with `all` those that are missing in the panel are disabled. Panel users that cannot be imported count in `errors`; `skipped_users` names them with the reason. One synchronisation runs at a time (409).';
const TO_PANEL =
  'Writes status, end, limits and squads of all subscriptions to the panel and creates missing users there. Users that have the same access and limits already are not written. One synchronisation runs at a time (409).';
const VALIDATE =
  'Finds and repairs inconsistent subscriptions (ended but active, no link, negative limits). No messages are sent.';
const CLEANUP =
  'Disables subscriptions whose user the panel no longer has. Balances and movements stay. One synchronisation runs at a time (409).';
const STATUSES = 'Copies statuses and limits from the panel, for known users only. One synchronisation runs at a time (409).';
const RECOMMENDATIONS =
  'Returns whether a synchronisation is recommended, which one and why, and under `running` the progress of those under way. Reads the own database only.';

export const PANEL: Readonly<Record<string, string>> = {
  [`GET ${WEB}/status`]: STATUS,
  [`GET ${WEB}/system`]: SYSTEM,
  [`GET ${WEB}/nodes`]: NODES,
  [`GET ${WEB}/nodes/realtime`]: REALTIME,
  [`GET ${WEB}/nodes/{node_uuid}`]: NODE,
  [`GET ${WEB}/nodes/{node_uuid}/statistics`]: NODE_STATISTICS,
  [`GET ${WEB}/nodes/{node_uuid}/usage`]: NODE_USAGE,
  [`POST ${WEB}/nodes/{node_uuid}/actions`]:
    'Enables, disables or restarts a node in the panel. A refusal of the panel is answered with status 200 and `success` false.',
  [`POST ${WEB}/nodes/restart`]:
    'Restarts all nodes; connections are interrupted. A refusal of the panel is answered with status 200 and `success` false.',
  [`GET ${WEB}/squads`]: SQUADS,
  [`POST ${WEB}/squads`]: CREATE_SQUAD,
  [`GET ${WEB}/squads/{squad_uuid}`]: SQUAD,
  [`PATCH ${WEB}/squads/{squad_uuid}`]: UPDATE_SQUAD,
  [`POST ${WEB}/squads/{squad_uuid}/actions`]: SQUAD_ACTION,
  [`GET ${WEB}/inbounds`]: INBOUNDS,
  [`GET ${WEB}/users/{messenger_id}/traffic`]:
    'Returns limit and used traffic of the panel user with this messenger id. GB are 1024³ bytes.',
  [`GET ${WEB}/squads/{squad_uuid}/migration-preview`]: PREVIEW,
  [`POST ${WEB}/squads/migrate`]: MIGRATE,
  [`POST ${WEB}/sync/from-panel`]: FROM_PANEL,
  [`POST ${WEB}/sync/to-panel`]: TO_PANEL,
  [`POST ${WEB}/sync/subscriptions/validate`]: VALIDATE,
  [`POST ${WEB}/sync/subscriptions/cleanup`]: CLEANUP,
  [`POST ${WEB}/sync/subscriptions/statuses`]: STATUSES,
  [`GET ${WEB}/sync/recommendations`]: RECOMMENDATIONS,

  [`GET ${ADMIN}/status`]: STATUS,
  [`GET ${ADMIN}/system`]: SYSTEM,
  [`GET ${ADMIN}/nodes`]: NODES,
  [`GET ${ADMIN}/nodes/overview`]:
    'Lists the nodes with the numbers of connected, disconnected and disabled ones and of users online. A disabled node counts as disabled only.',
  [`GET ${ADMIN}/nodes/realtime`]: REALTIME,
  [`GET ${ADMIN}/nodes/{node_uuid}`]: NODE,
  [`GET ${ADMIN}/nodes/{node_uuid}/statistics`]: NODE_STATISTICS,
  [`GET ${ADMIN}/nodes/{node_uuid}/usage`]: NODE_USAGE,
  [`POST ${ADMIN}/nodes/{node_uuid}/action`]:
    'Enables, disables or restarts a node in the panel. Connections through it are interrupted.',
  [`POST ${ADMIN}/nodes/restart-all`]: 'Restarts all nodes of the panel; connections are interrupted.',
  [`GET ${ADMIN}/squads`]: 'Lists the internal squads of the panel with the servers that belong to them.',
  [`POST ${ADMIN}/squads`]: CREATE_SQUAD,
  [`GET ${ADMIN}/squads/{squad_uuid}`]:
    'Returns an internal squad with its inbounds, its server and the number of active subscriptions.',
  [`PATCH ${ADMIN}/squads/{squad_uuid}`]: UPDATE_SQUAD,
  [`DELETE ${ADMIN}/squads/{squad_uuid}`]:
    'Deletes an internal squad in the panel. Its server remains until the next synchronisation of servers.',
  [`POST ${ADMIN}/squads/{squad_uuid}/action`]: SQUAD_ACTION,
  [`GET ${ADMIN}/inbounds`]: INBOUNDS,
  [`GET ${ADMIN}/squads/{squad_uuid}/migration-preview`]: PREVIEW,
  [`POST ${ADMIN}/squads/migrate`]: MIGRATE,
  [`GET ${ADMIN}/sync/auto/status`]: 'Returns times, next run and outcome of the last run of the automatic synchronisation.',
  [`POST ${ADMIN}/sync/auto/toggle`]:
    'Switches the automatic synchronisation on or off by storing its setting; the schedule changes on every instance.',
  [`POST ${ADMIN}/sync/auto/run`]:
    'Runs the automatic synchronisation and answers when it has ended: users from the panel, then servers. If one is running, nothing is started.',
  [`POST ${ADMIN}/sync/from-panel`]: FROM_PANEL,
  [`POST ${ADMIN}/sync/to-panel`]: TO_PANEL,
  [`POST ${ADMIN}/sync/servers`]:
    'Reads the internal squads of the panel: new ones become servers that are not on sale, names are refreshed, servers without squad are deleted. An empty answer of the panel is refused.',
  [`POST ${ADMIN}/sync/subscriptions/validate`]: VALIDATE,
  [`POST ${ADMIN}/sync/subscriptions/cleanup`]: CLEANUP,
  [`POST ${ADMIN}/sync/subscriptions/statuses`]: STATUSES,
  [`GET ${ADMIN}/sync/recommendations`]: RECOMMENDATIONS,
};
