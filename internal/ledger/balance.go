package ledger

import (
	"fmt"

	"ferry/internal/money"
)

// Balance is what was ever debited and credited to an account in one asset, and
// what is reserved of it.
type Balance struct{ Debits, Credits, Reserved money.Amount }

// IsZero reports whether nothing is left in the account and nothing reserved.
func (b Balance) IsZero() bool { return b.Debits == b.Credits && b.Reserved.IsZero() }

// Net is the balance and whether it is below zero.
func (b Balance) Net() (n money.Amount, below bool) {
	if b.Debits.Less(b.Credits) {
		return b.Credits.Less0(b.Debits), true
	}
	return b.Debits.Less0(b.Credits), false
}

// String is the signed net balance.
func (b Balance) String() string {
	n, below := b.Net()
	if below {
		return "-" + n.String()
	}
	return n.String()
}

// Free is what is neither credited nor reserved.
func (b Balance) Free() money.Amount {
	n, below := b.Net()
	if below {
		return money.Amount{}
	}
	return n.Less0(b.Reserved)
}

// Debit books an amount to the account.
func (b *Balance) Debit(n money.Amount) (err error) {
	b.Debits, err = b.Debits.Add(n)
	return err
}

// Credit books an amount off the account.
func (b *Balance) Credit(n money.Amount) (err error) {
	b.Credits, err = b.Credits.Add(n)
	return err
}

// Hold reserves an amount; with must it refuses what is not free.
func (b *Balance) Hold(n money.Amount, must bool) (err error) {
	if must && b.Free().Less(n) {
		return fmt.Errorf("%w: %s of %s free", ErrShort, n, b.Free())
	}
	b.Reserved, err = b.Reserved.Add(n)
	return err
}

// Unhold gives a reservation back.
func (b *Balance) Unhold(n money.Amount) (err error) {
	b.Reserved, err = b.Reserved.Sub(n)
	return err
}

// CheckSide refuses a balance on the wrong side of zero for its account.
func (b Balance) CheckSide(a Account) error {
	net, below := b.Net()
	if net.IsZero() {
		return nil
	}
	if (a.Side() == DebitSide && below) || (a.Side() == CreditSide && !below) {
		return fmt.Errorf("%w: %s at %s", ErrOverdrawn, a, b)
	}
	return nil
}
