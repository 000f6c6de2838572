package wire

// appendJSON implements appender.
func (q *Quote) appendJSON(b []byte) ([]byte, error) {
	p := pen{b: b}
	p.text(`{"quoteId":`, q.QuoteID)
	p.text(`,"kind":`, q.Kind)
	p.text(`,"side":`, q.Side)
	p.text(`,"rateMode":`, q.RateMode)
	p.text(`,"fundingMode":`, q.FundingMode)
	p.sum(`,"from":`, &q.From)
	p.sum(`,"to":`, &q.To)
	p.amount(`,"minToAmount":`, q.MinToAmount)
	p.amount(`,"maxFromAmount":`, q.MaxFromAmount)
	if q.SlippagePercent == nil {
		p.raw(`,"slippagePercent":null`)
	} else {
		p.percent(`,"slippagePercent":`, *q.SlippagePercent)
	}
	p.percent(`,"priceImpactPercent":`, q.PriceImpactPercent)
	p.text(`,"rate":`, q.Rate)
	p.amount(`,"limits":{"minFromAmount":`, q.Limits.MinFromAmount)
	p.amount(`,"maxFromAmount":`, q.Limits.MaxFromAmount)
	p.raw(`}`)
	p.fees(q.Fees, q.IntegratorFee)
	p.whole(`,"estimatedSeconds":`, q.EstimatedSeconds)
	p.whole(`,"requiredConfirmations":`, q.RequiredConfirmations)
	p.percent(`,"depositTolerance":{"underPercent":`, q.DepositTolerance.UnderPercent)
	p.percent(`,"overPercent":`, q.DepositTolerance.OverPercent)
	p.text(`,"underAction":`, q.DepositTolerance.UnderAction)
	p.text(`,"overAction":`, q.DepositTolerance.OverAction)
	p.moment(`},"createdAt":`, q.CreatedAt)
	p.moment(`,"expiresAt":`, q.ExpiresAt)
	p.whole(`,"validForSeconds":`, q.ValidForSeconds)
	p.warnings(q.Warnings)
	p.text(`,"signature":`, q.Signature)
	p.moment(`,"asOf":`, q.AsOf)
	p.raw(`}`)
	return p.b, p.err
}

func (p *pen) sum(name string, s *Sum) {
	p.raw(name)
	p.text(`{"chainId":`, s.ChainID)
	p.text(`,"token":`, s.Token)
	p.text(`,"symbol":`, s.Symbol)
	p.whole(`,"decimals":`, s.Decimals)
	p.amount(`,"amount":`, s.Amount)
	p.text(`,"amountDecimal":`, s.AmountDecimal)
	p.usd(`,"amountUsd":`, s.AmountUSD)
	p.raw(`}`)
}

func (p *pen) fees(all []Fee, own *IntegratorFee) {
	p.raw(`,"fees":[`)
	for i, f := range all {
		if i > 0 {
			p.raw(`,`)
		}
		p.text(`{"kind":`, f.Kind)
		p.usd(`,"amountUsd":`, f.AmountUSD)
		p.raw(`}`)
	}
	if own == nil {
		p.raw(`],"integratorFee":null`)
		return
	}
	p.percent(`],"integratorFee":{"percent":`, own.Percent)
	p.usd(`,"amountUsd":`, own.AmountUSD)
	p.text(`,"payoutAddress":`, own.PayoutAddress)
	p.raw(`}`)
}

func (p *pen) warnings(all []Warning) {
	p.raw(`,"warnings":[`)
	for i, w := range all {
		if i > 0 {
			p.raw(`,`)
		}
		p.text(`{"code":`, w.Code)
		p.text(`,"message":`, w.Message)
		if w.Percent != nil {
			p.percent(`,"percent":`, *w.Percent)
		}
		if w.AmountUSD != nil {
			p.usd(`,"amountUsd":`, *w.AmountUSD)
		}
		if w.TransferCostUSD != nil {
			p.usd(`,"transferCostUsd":`, *w.TransferCostUSD)
		}
		p.raw(`}`)
	}
	p.raw(`]`)
}
