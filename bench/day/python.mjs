// A Python package with pytest (unittest where that is not there): tests, a new module, a script that fails, a long file.
import { isHere, put, repository } from './make.mjs';
import { edit, write } from './sides.mjs';

const handlers = Array.from({ length: 120 }, (_, index) => {
  const code = 100 + index;
  return `def handle_${code}(request):
    """What is done when a request of kind ${code} comes."""
    checked = validate(request, kind=${code})
    if checked is None:
        return reject(request, "kind ${code}")
    return store(checked, table="t_${code}")
`;
});

const files = {
  'pyproject.toml': `[project]
name = "ledger"
version = "0.3.0"
requires-python = ">=3.9"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["."]
`,
  '.gitignore': '__pycache__/\n.pytest_cache/\n',
  'ledger/__init__.py': '"""Accounts and what moves between them."""\n',
  'ledger/account.py': `from dataclasses import dataclass, field


@dataclass
class Account:
    owner: str
    balance: int = 0
    history: list = field(default_factory=list)

    def deposit(self, amount: int) -> None:
        if amount < 0:
            raise ValueError("an amount is not negative")
        self.balance += amount
        self.history.append(("deposit", amount))

    def withdraw(self, amount: int) -> None:
        if amount >= self.balance:
            raise ValueError("not enough")
        self.balance -= amount
        self.history.append(("withdraw", amount))
`,
  'ledger/interest.py': `def yearly(balance: int, percent: float) -> int:
    """The interest of a year, in whole cents."""
    return int(balance * percent // 100)


def compound(balance: int, percent: float, years: int) -> int:
    for _ in range(years):
        balance += yearly(balance, percent)
    return balance
`,
  'ledger/report.py': `import json
import sys


def totals(rows):
    result = {}
    for row in rows:
        result[row["owner"]] = result.get(row["owner"], 0) + row["amount"]
    return result


def main(path):
    with open(path) as source:
        rows = [json.loads(line) for line in source]
    for owner, total in sorted(totals(rows).items()):
        print(f"{owner:10} {total:8}")


if __name__ == "__main__":
    main(sys.argv[1])
`,
  'ledger/handlers.py': `"""One handler for each kind of request."""

from ledger.store import reject, store, validate


${handlers.join('\n\n')}`,
  'ledger/store.py': `def validate(request, kind):
    return request if request.get("kind") == kind else None


def reject(request, why):
    return {"rejected": why, "request": request}


def store(request, table):
    return {"stored": table, **request}
`,
  'rows.jsonl': `${Array.from({ length: 40 }, (_, index) =>
    JSON.stringify({ owner: ['ada', 'bob', 'eve'][index % 3], amount: index === 27 ? '12' : index * 10 }),
  ).join('\n')}\n`,
  'tests/test_account.py': `import unittest

from ledger.account import Account


class AccountTest(unittest.TestCase):
    def test_deposit(self):
        account = Account("ada")
        account.deposit(100)
        self.assertEqual(account.balance, 100)

    def test_withdraw(self):
        account = Account("ada", 100)
        account.withdraw(40)
        self.assertEqual(account.balance, 60)

    def test_withdraw_all(self):
        account = Account("ada", 100)
        account.withdraw(100)
        self.assertEqual(account.balance, 0)

    def test_not_enough(self):
        with self.assertRaises(ValueError):
            Account("ada", 10).withdraw(11)

    def test_history(self):
        account = Account("ada")
        account.deposit(5)
        self.assertEqual(account.history, [("deposit", 5)])
`,
  'tests/test_interest.py': `import unittest

from ledger.interest import compound, yearly


class InterestTest(unittest.TestCase):
    def test_yearly(self):
        self.assertEqual(yearly(1000, 2.5), 25)

    def test_rounds(self):
        self.assertEqual(yearly(1019, 2.5), 25)

    def test_half_up(self):
        self.assertEqual(yearly(1020, 2.5), 26)

    def test_compound(self):
        self.assertEqual(compound(1000, 10, 2), 1210)
`,
  'tests/test_transfer.py': `import unittest

from ledger.transfer import transfer


class TransferTest(unittest.TestCase):
    def test_transfer(self):
        self.assertTrue(transfer)
`,
};

const transfer = `from ledger.account import Account


def transfer(source: Account, target: Account, amount: int) -> None:
    """Moves an amount, or nothing when there is not enough."""
    source.withdraw(amount)
    target.deposit(amount)
`;
const transferTest = `import unittest

from ledger.account import Account
from ledger.transfer import transfer


class TransferTest(unittest.TestCase):
    def test_transfer(self):
        ada, bob = Account("ada", 100), Account("bob")
        transfer(ada, bob, 30)
        self.assertEqual((ada.balance, bob.balance), (70, 30))

    def test_not_enough(self):
        ada, bob = Account("ada", 10), Account("bob")
        with self.assertRaises(ValueError):
            transfer(ada, bob, 30)
        self.assertEqual((ada.balance, bob.balance), (10, 0))
`;
const tests = isHere('pytest') ? 'python3 -m pytest -q' : 'python3 -m unittest discover -s tests -t .';
const bugs = [
  ['ledger/account.py', 'amount >= self.balance', 'amount > self.balance'],
  ['ledger/interest.py', 'int(balance * percent // 100)', 'int(balance * percent / 100 + 0.5)'],
];

export const python = {
  name: 'Python',
  folder: 'ledger',
  make(folder) {
    put(folder, files);
    repository(folder).commit('Accounts, interest and a report');
  },
  tasks: [
    {
      name: 'tests, with a module that does not load',
      expects: [
        /test_withdraw_all/,
        /test_half_up/,
        /test_transfer/,
        /ledger\.transfer/,
        /25 != 26/,
        /not enough/,
      ],
      ours: ({ turn }) => turn(['check', {}]),
      // Not stopped by the module that does not load.
      theirs: ({ turn }) =>
        turn(
          isHere('pytest')
            ? `${tests} --tb=short --continue-on-collection-errors 2>&1 | tail -45`
            : `${tests} 2>&1 | tail -45`,
        ),
    },
    {
      name: 'mend two bugs, write the module with its tests, run all',
      expects: [/self\.balance/, /percent \/\/ 100/, /11 passed|OK/],
      holds: (side) =>
        side.read('ledger/transfer.py') === transfer &&
        bugs.every(([path, , now]) => side.read(path).includes(now)),
      async ours({ turn }) {
        await turn([
          'read_file',
          { path: ['ledger/account.py', 'ledger/interest.py', 'tests/test_transfer.py'] },
        ]);
        await turn(
          [
            'edit_files',
            { edits: bugs.map(([path, old_string, new_string]) => ({ path, old_string, new_string })) },
          ],
          ['write_file', { path: 'ledger/transfer.py', content: transfer }],
          ['write_file', { path: 'tests/test_transfer.py', content: transferTest }],
        );
        await turn(['check', {}]);
      },
      async theirs({ turn }) {
        await turn('cat ledger/account.py ledger/interest.py tests/test_transfer.py');
        await turn(
          ...bugs.map((bug) => edit(...bug)),
          write('ledger/transfer.py', transfer),
          write('tests/test_transfer.py', transferTest),
        );
        await turn(`${tests} 2>&1 | tail -3`);
      },
    },
    {
      name: 'run a script that fails, mend it, run it again',
      expects: [/report\.py", line 8/, /TypeError/, /ada +\d+/, /eve +\d+/],
      async ours({ turn }) {
        await turn(['run', { command: 'python3 -m ledger.report rows.jsonl' }]);
        await turn([
          'edit_file',
          { path: 'ledger/report.py', old_string: ' + row["amount"]', new_string: ' + int(row["amount"])' },
        ]);
        await turn(['run', { command: 'python3 -m ledger.report rows.jsonl' }]);
      },
      async theirs({ turn }) {
        await turn('python3 -m ledger.report rows.jsonl');
        await turn(edit('ledger/report.py', ' + row["amount"]', ' + int(row["amount"])'));
        await turn('python3 -m ledger.report rows.jsonl');
      },
    },
    {
      name: 'a function in a file of 960 lines',
      expects: [/def handle_177/, /t_177/, /reject\(request, "kind 177"\)/],
      ours: ({ turn }) => turn(['grep', { pattern: 'def handle_177', path: 'ledger', '-A': 6 }]),
      theirs: ({ turn }) => turn("grep -rn -A6 'def handle_177' ledger --include=*.py"),
    },
    {
      name: 'read that file where it begins, and around a line',
      expects: [/One handler for each kind/, /def handle_100/, /def handle_177/],
      ours: ({ turn }) =>
        turn(
          ['read_file', { path: 'ledger/handlers.py', end_line: 20 }],
          ['read_file', { path: 'ledger/handlers.py', start_line: 610, end_line: 640 }],
        ),
      theirs: ({ turn }) => turn("sed -n '1,20p;610,640p' ledger/handlers.py"),
    },
    {
      name: 'commit all of it',
      expects: [/[0-9a-f]{7,}/],
      holds: (side) => side.read('.git/COMMIT_EDITMSG').startsWith('Transfer between accounts'),
      ours: ({ turn }) =>
        turn(['git_commit', { message: 'Transfer between accounts', paths: ['ledger', 'tests'] }]),
      theirs: ({ turn }) =>
        turn(
          'git add ledger tests && git commit -qm "Transfer between accounts" && git log --oneline -1 && git status -sb',
        ),
    },
  ],
};
