import { Inject, Injectable } from '@nestjs/common';
import type { Socket } from 'engine.io';
import { ClientAddressService } from '../auth/client-address.service.js';
import { addressGroup } from '../../common/addresses.js';
import { updatesConfig, type UpdatesSettings } from '../config/updates.config.js';
import { terminate } from './connection-transport.js';

/**
 * Limited for the process and for each address. The oldest is closed for a new one: a client with a
 * token is unauthenticated only briefly, whereas an attacker's connections stay.
 */
@Injectable()
export class UnauthenticatedConnectionsService {
  /** Connections with the groups of their addresses, oldest first. */
  private readonly groupOf = new Map<Socket, string>();
  private readonly byGroup = new Map<string, Set<Socket>>();
  /** A single function for all connections, which Node calls with the closed one as `this`. */
  private readonly onClose: (this: Socket) => void;

  constructor(
    private readonly addresses: ClientAddressService,
    @Inject(updatesConfig.KEY) private readonly config: UpdatesSettings,
  ) {
    const forget = (connection: Socket): void => this.release(connection);
    this.onClose = function (this: Socket) {
      forget(this);
    };
  }

  /** Counts a connection until it closes or is released. */
  add(connection: Socket): void {
    const group = addressGroup(this.addresses.of(connection.request));
    const { maxUnauthenticated, maxUnauthenticatedPerIp } = this.config;
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

  /** Stops counting a connection that has authenticated or closed. */
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
