/** The ban system, messages about bans, and releases (spec 06 sections 13 and 14). */
const ROOT = '/cabinet/admin/ban-system';

export const BAN_SYSTEM_OPERATIONS: Readonly<Record<string, string>> = {
  [`GET ${ROOT}/status`]: 'Returns whether the integration is switched on and has an address and a token. Calls nothing outside.',
  [`GET ${ROOT}/stats`]: 'Reads users, requests, bans, nodes and agents of the ban system in numbers.',
  [`GET ${ROOT}/stats/raw`]: 'Reads the same numbers as the ban system gives them, under `raw_response`.',
  [`GET ${ROOT}/report`]: 'Reads users, addresses and bans of the last hours.',
  [`GET ${ROOT}/health`]: 'Reads the health of the ban system as a list of components.',
  [`GET ${ROOT}/health/detailed`]: 'Reads the health with the components as the ban system gives them.',
  [`GET ${ROOT}/users`]: 'Lists the users that the ban system knows, page by page.',
  [`GET ${ROOT}/users/over-limit`]: 'Lists users with more addresses at the same time than their limit.',
  [`GET ${ROOT}/users/search/{query}`]: 'Finds users of the ban system by a part of their name.',
  [`GET ${ROOT}/users/{email}`]: 'Reads the addresses and the latest requests of a user.',
  [`GET ${ROOT}/users/{email}/history`]: 'Lists former and current bans of a user.',
  [`GET ${ROOT}/history/{query}`]: 'Lists former and current bans by e-mail or name.',
  [`GET ${ROOT}/punishments`]: 'Lists the bans that are in force. A ban without a moment is left out.',
  [`POST ${ROOT}/punishments/{user_id}/unban`]:
    'Ends the ban of a user. Is sent to the ban system once and recorded in the audit log.',
  [`POST ${ROOT}/ban`]: 'Bans a user for some minutes. Is sent to the ban system once and recorded in the audit log.',
  [`GET ${ROOT}/nodes`]: 'Lists the nodes with the numbers of their agents.',
  [`GET ${ROOT}/agents`]: 'Lists the agents that report connections, by name of the node.',
  [`GET ${ROOT}/agents/summary`]: 'Reads the numbers of all agents together.',
  [`GET ${ROOT}/agents/{node_name}/history`]: 'Reads the latest 50 readings of an agent, and what they changed by.',
  [`GET ${ROOT}/traffic`]: 'Reads users with the most traffic and the latest violations together.',
  [`GET ${ROOT}/traffic/top`]: 'Lists the users with the most traffic.',
  [`GET ${ROOT}/traffic/violations`]: 'Lists violations of traffic limits.',
  [`GET ${ROOT}/settings`]: 'Lists the settings of the ban system in its order.',
  [`GET ${ROOT}/settings/{key}`]: 'Reads one setting of the ban system.',
  [`POST ${ROOT}/settings/{key}`]:
    'Changes a setting at the ban system, which reads the text by the type of the setting, and returns what it is then. Repeating the call changes nothing.',
  [`POST ${ROOT}/settings/{key}/toggle`]: 'Switches a setting that is a boolean and returns what it is then.',
  [`POST ${ROOT}/settings/whitelist/add`]: 'Exempts a user from bans. Repeating the call changes nothing.',
  [`POST ${ROOT}/settings/whitelist/remove`]: 'Ends the exemption of a user. Repeating the call changes nothing.',
  'POST /ban-notifications/send':
    'Sends a user one message about a ban, its end or a warning: in the messenger before the answer, to users without it by mail and on their sockets. A user who is not found, and a message that cannot be delivered, are answered with 200 and `success` false. Every call sends; nothing is repeated.',
  'GET /cabinet/admin/updates/releases':
    'Returns the ten newest releases of the service and of the cabinet pages. They are read again when they are an hour old; while that fails, the last ones are answered.',
};
