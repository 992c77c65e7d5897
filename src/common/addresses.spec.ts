import { addressGroup } from './addresses.js';

describe(addressGroup.name, () => {
  it.each([
    ['10.0.0.7', '10.0.0.7'],
    ['::ffff:10.0.0.7', '10.0.0.7'],
    ['::FFFF:0a00:7', '10.0.0.7'],
    ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
    ['2001:0DB8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:1::/64'],
    ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['fe80::2%eth1', 'fe80:0:0:0::/64'],
    ['', ''],
    ['unknown', 'unknown'],
    ['a:b', 'a:b'],
  ])('groups %j as %j', (address, group) => {
    expect(addressGroup(address)).toBe(group);
    // Grouping a group changes nothing.
    expect(addressGroup(group)).toBe(group);
  });
});
