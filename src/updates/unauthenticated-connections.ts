import { Inject, Injectable } from '@nestjs/common';
import type { Socket } from 'engine.io';
import { ClientAddress } from '../auth/client-address.js';
import { addressGroup } from '../common/address-group.js';
import { SETTINGS, type Settings } from '../config/settings.js';
import { terminate } from './connection-transport.js';

/**
 * The connections that have not authenticated: a budget of their own, of the process and of each
 * address. The newest always gets in and the oldest is closed for it, because a client that holds
 * a token needs its place for a moment only, and an attacker's connections are the ones that wait.
 */
@Injectable()
export class UnauthenticatedConnections {
  /** Each with the group of its address, oldest first. */
  private readonly groupOf = new Map<Socket, string>();
  private readonly byGroup = new Map<string, Set<Socket>>();
  /** One function for all connections; Node calls it with the one that closed. */
  private readonly onClose: (this: Socket) => void;

  constructor(
    private readonly addresses: ClientAddress,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    const forget = (connection: Socket): void => this.release(connection);
    this.onClose = function (this: Socket) {
      forget(this);
    };
  }

  /** Counts a connection until it closes or is released. */
  add(connection: Socket): void {
    const group = addressGroup(this.addresses.of(connection.request));
    const { maxUnauthenticated, maxUnauthenticatedPerIp } = this.settings.updates;
    const same = this.byGroup.get(group) ?? new Set();
    this.groupOf.set(connection, group);
    this.byGroup.set(group, same.add(connection));
    connection.on('close', this.onClose);
    if (same.size > maxUnauthenticatedPerIp) {
      this.closeFirst(same);
    } else if (this.groupOf.size > maxUnauthenticated) {
      this.closeFirst(this.groupOf.keys());
    }
  }

  /** The connection has authenticated, or is closed. */
  release(connection: Socket): void {
    const group = this.groupOf.get(connection);
    if (group === undefined) {
      return;
    }
    connection.off('close', this.onClose);
    this.groupOf.delete(connection);
    const same = this.byGroup.get(group);
    same?.delete(connection);
    if (same?.size === 0) {
      this.byGroup.delete(group);
    }
  }

  private closeFirst(connections: Iterable<Socket>): void {
    for (const oldest of connections) {
      this.release(oldest);
      terminate(oldest);
      return;
    }
  }
}
