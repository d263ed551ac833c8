def test_x(provider, ask, account, moto):
    c = provider.ensure(ask())
    print(c.model_dump_json(indent=1))
    print(moto[1].keys())
    assert provider.find(c.key) == c
    print(provider.clusters())
    provider.destroy(c.key)
    assert provider.clusters() == []
    print(account.calls)
