import { isIP } from 'node:net';
import type { BanUser, BanUserAddress, BanUserDetail, BanUserRequest, Punishment } from '../../domain/ban-system/types.ts';
import { count, type Fields, fieldsOf, flag, integerOr, isFields, momentOrNull, rowsOf, textOr } from './read-values.ts';

/** Of `{users: [U]}` or `[U]`. */
export function readUsers(answer: unknown): BanUser[] {
  return rowsOf(answer, 'users').map(userOf);
}

function userOf(row: Fields): BanUser {
  return {
    email: textOr(row.email, ''),
    uniqueIpCount: count(row.unique_ip_count),
    totalRequests: count(row.total_requests),
    limit: integerOr(row.limit, null),
    isOverLimit: flag(row.is_over_limit),
    blockedCount: count(row.blocked_count),
    lastSeen: momentOrNull(row.last_seen),
  };
}

/** @param email the requested one, where the answer has none */
export function readUserDetail(answer: unknown, email: string): BanUserDetail {
  const row = fieldsOf(answer);
  const user = userOf(row);
  return {
    ...user,
    email: user.email || email,
    ips: addressesOf(row.ips),
    recentRequests: rowsOf(row.recent_requests, '').flatMap(requestOf),
    networkType: textOr(row.network_type, null),
  };
}

/** An array, or an object whose keys are the addresses. */
function addressesOf(value: unknown): BanUserAddress[] {
  if (!isFields(value)) return rowsOf(value, '').map((row) => addressOf(row, ''));
  return Object.entries(value).flatMap(([key, row]) => (isFields(row) ? [addressOf(row, isIP(key) ? key : '')] : []));
}

function addressOf(row: Fields, key: string): BanUserAddress {
  return {
    ip: textOr(row.ip, key),
    firstSeen: momentOrNull(row.first_seen),
    lastSeen: momentOrNull(row.last_seen),
    node: textOr(row.node, null),
    requestCount: count(row.request_count),
    countryCode: textOr(row.country_code, null),
    countryName: textOr(row.country_name, null),
    city: textOr(row.city, null),
  };
}

function requestOf(row: Fields): BanUserRequest[] {
  const timestamp = momentOrNull(row.timestamp);
  if (timestamp === null) return [];
  const request = {
    timestamp,
    sourceIp: textOr(row.source_ip, ''),
    destination: textOr(row.destination, null),
    destPort: integerOr(row.dest_port, null),
    protocol: textOr(row.protocol, null),
    action: textOr(row.action, null),
    node: textOr(row.node, null),
  };
  return [request];
}

/** Of `[P]`, or of an object with the list under `name`. */
export function readPunishments(answer: unknown, name: 'punishments' | 'items'): Punishment[] {
  return rowsOf(answer, name).flatMap((row) => {
    const punishedAt = momentOrNull(row.punished_at);
    if (punishedAt === null) return [];
    const punishment = {
      id: integerOr(row.id, null),
      userId: textOr(row.user_id, ''),
      uuid: textOr(row.uuid, null),
      username: textOr(row.username, ''),
      reason: textOr(row.reason, null),
      punishedAt,
      enableAt: momentOrNull(row.enable_at),
      ipCount: count(row.ip_count),
      limit: count(row.limit),
      enabled: flag(row.enabled),
      enabledAt: momentOrNull(row.enabled_at),
      nodeName: textOr(row.node_name, null),
    };
    return [punishment];
  });
}
